package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.mutex.lab.Result.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Trial} and {@link TrialResult}.
 */
class TrialTests {

	private static final Path TESTS = Path.of("..", "mutex-spring-boot-autoconfigure", "src", "test", "java");

	private static final Pattern PARENT = Pattern.compile("class \\w+ extends (\\w+)");

	@Test
	void everyFaultIsPlayed() {
		List<String> played = Stream.concat(Arrays.stream(Scenario.values()), Arrays.stream(Trial.values()))
			.map(Enum::name)
			.toList();
		assertThat(played).containsAll(faults());
		assertThat(Arrays.stream(Trial.values()).map(Enum::name)).isSubsetOf(faults());
	}

	private static List<String> faults() {
		return Map.of("P", 12, "N", 8, "C", 7, "R", 12, "J", 16, "F", 20, "S", 12)
			.entrySet()
			.stream()
			.flatMap(
					(group) -> IntStream.rangeClosed(1, group.getValue()).mapToObj((number) -> group.getKey() + number))
			.toList();
	}

	@ParameterizedTest
	@EnumSource
	void testsThatShowItAreThere(Trial trial) throws IOException {
		assertThat(trial.selectors()).isNotEmpty().doesNotHaveDuplicates();
		for (String selector : trial.selectors()) {
			String[] words = selector.split("#");
			List<String> sources = sources(words[0]);
			assertThat(sources).as(selector).isNotEmpty();
			if (words.length == 2) {
				assertThat(sources).as(selector)
					.anySatisfy((source) -> assertThat(source).contains("\tvoid " + words[1] + "("));
			}
		}
	}

	// of the class and of those that it extends
	private static List<String> sources(String type) throws IOException {
		List<String> sources = new ArrayList<>();
		Path file = TESTS.resolve(type.replace('.', '/') + ".java");
		while (file != null && Files.exists(file)) {
			String source = Files.readString(file);
			sources.add(source);
			file = PARENT.matcher(source)
				.results()
				.findFirst()
				.map((parent) -> parent.group(1) + ".java")
				.flatMap((parent) -> Stream.of(TESTS.resolve("io/mutex").resolve(parent), sibling(type, parent))
					.filter(Files::exists)
					.findFirst())
				.orElse(null);
		}
		return sources;
	}

	private static Path sibling(String type, String name) {
		return TESTS.resolve(type.substring(0, type.lastIndexOf('.')).replace('.', '/')).resolve(name);
	}

	@Test
	void everySelectorHasToPass() {
		Trial trial = Trial.F14;
		List<Outcome.Test> passed = trial.selectors()
			.stream()
			.map((selector) -> new Outcome.Test(List.of(selector), selector, Verdict.PASSED, "", 100))
			.toList();
		assertThat(verdict(trial, passed)).isEqualTo(Verdict.PASSED);
		List<Outcome.Test> rest = passed.subList(1, passed.size());
		assertThat(verdict(trial, rest)).isEqualTo(Verdict.INVALID);
		assertThat(with(trial, rest, Verdict.SKIPPED).verdict()).isEqualTo(Verdict.SKIPPED);
		assertThat(with(trial, rest, Verdict.SKIPPED).reasons()).containsExactly("F14: a was left out: because");
		assertThat(with(trial, passed, Verdict.SKIPPED).verdict()).isEqualTo(Verdict.PASSED);
		assertThat(with(trial, passed, Verdict.VIOLATED).verdict()).isEqualTo(Verdict.VIOLATED);
		assertThat(with(trial, passed, Verdict.VIOLATED).reasons()).containsExactly("F14: a failed: because");
		assertThat(with(trial, passed, Verdict.SKIPPED).line()).startsWith("| F14 | ")
			.contains("`FileStateTests`")
			.contains("| " + (passed.size() + 1) + " | PASSED |");
	}

	private static Verdict verdict(Trial trial, List<Outcome.Test> tests) {
		return TrialResult.of(trial, new Outcome(tests)).verdict();
	}

	private static TrialResult with(Trial trial, List<Outcome.Test> tests, Verdict verdict) {
		List<Outcome.Test> all = new ArrayList<>(tests);
		all.add(new Outcome.Test(List.of(trial.selectors().get(0)), "a", verdict, "because", 0));
		return TrialResult.of(trial, new Outcome(all));
	}

}
