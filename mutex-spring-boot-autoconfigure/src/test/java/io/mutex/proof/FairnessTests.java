package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes that want one key all the time. Their polls are so far apart that only
 * the place of the next holder, and the hint that the key is free, get them the key.
 */
@Tag("experiment")
class FairnessTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@TempDir
	static Path directory;

	@ParameterizedTest
	@DisplayName("I1 a process that was refused gets the key before the other one gets it again")
	@EnumSource(names = { "REDIS", "POSTGRESQL" })
	void refusedProcessIsTheNextHolder(Store store) {
		String[] arguments = { store.name(), store.prepare(directory), "fair-" + UUID.randomUUID(), "one" };
		try (JavaProcess one = JavaProcess.start(Competitor.class, arguments);
				JavaProcess other = JavaProcess.start(Competitor.class, named("other", arguments))) {
			List<JavaProcess> both = List.of(one, other);
			both.forEach((process) -> process.awaitLine("ready", PATIENCE));
			both.forEach((process) -> process.sendLine("go"));
			both.forEach((process) -> process.awaitLine("waited", PATIENCE));
			both.forEach((process) -> process.sendLine("end"));
			both.forEach((process) -> process.awaitLine("ended", PATIENCE));
			// On a database one that asks in the moment of a hand-over may go without the
			// place.
			assertThat(passedOver(one, other) + passedOver(other, one)).isLessThanOrEqualTo(1);
		}
	}

	private static String[] named(String name, String... arguments) {
		String[] copy = arguments.clone();
		copy[copy.length - 1] = name;
		return copy;
	}

	// How often the other was granted the key more than once while one waited for it. The
	// grant that has caused the refusal may be noted after it.
	private static long passedOver(JavaProcess waiting, JavaProcess other) {
		NavigableSet<Long> mine = times(waiting, "granted ");
		NavigableSet<Long> theirs = times(other, "granted ");
		assertThat(mine).hasSizeGreaterThanOrEqualTo(Competitor.WAITS);
		Set<Long> ends = new HashSet<>();
		for (long refused : times(waiting, "refused ")) {
			Long granted = mine.higher(refused);
			if (granted != null && theirs.subSet(refused, granted).size() > 1) {
				ends.add(granted);
			}
		}
		return ends.size();
	}

	private static NavigableSet<Long> times(JavaProcess process, String event) {
		Stream<String> lines = process.output().stream().filter((line) -> line.startsWith(event));
		return lines.map((line) -> Long.valueOf(line.substring(event.length())))
			.collect(Collectors.toCollection(TreeSet::new));
	}

}
