package io.mutex.proof;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances with {@code onInDoubt = SKIP}. One is killed in the middle of several
 * runs; the others ask for their units while the leases run, when they have ended, after
 * forced releases, and beside an instance that is stopped.
 */
@Tag("experiment")
class DeathsInDoubtTests {

	private static final int RUNS = 8;

	private static final List<String> REFUSALS = List.of("SKIPPED_HELD", "SKIPPED_IN_DOUBT",
			"LockNotAcquiredException");

	@TempDir
	static Path directory;

	@ParameterizedTest
	@DisplayName("C51 after a death in the body nobody runs the unit again, whoever skips, is stopped or force-released")
	@EnumSource(names = { "FILE", "POSTGRESQL", "MARIADB", "REDIS" })
	void nobodyRunsTheUnitAgain(Store store) {
		int processes = Experiments.rounds(1, 13);
		long effects = 0;
		try (Site site = Site.of(store, directory);
				JavaProcess two = site.start("two");
				JavaProcess three = site.start("three")) {
			for (int round = 0; round < processes; round++) {
				List<String> keys = killInMidWork(site, round, two, three);
				forceRelease(site, keys);
				assertThat(ask(site, keys, "soon-" + round, two, three)).isSubsetOf(REFUSALS);
				if (round % 2 == 0) {
					stopWhileAsking(site, keys, round, two, three);
				}
				keys.forEach(site::awaitFree);
				// one of two that ask at once may find that the other is looking
				assertThat(ask(site, keys, "later-" + round, two, three)).isSubsetOf(REFUSALS);
				assertThat(ask(site, keys, "last-" + round, two)).containsOnly("SKIPPED_IN_DOUBT");
				assertThat(ask(site, keys, "last-" + round, three)).containsOnly("SKIPPED_IN_DOUBT");
				for (String key : keys) {
					assertThat(site.effects(key, "u")).isEqualTo(key.endsWith("AFTER_EFFECT") ? 1 : 0);
					effects += site.effects(key, "u");
				}
			}
			Experiments.report("onInDoubt = SKIP, " + store, processes * RUNS + " runs died with " + processes
					+ " processes: " + effects + " effects, none of them twice, no second run");
		}
	}

	private List<String> killInMidWork(Site site, int round, JavaProcess two, JavaProcess three) {
		List<String> keys = new ArrayList<>();
		try (JavaProcess one = site.start("one")) {
			for (int i = 0; i < RUNS; i++) {
				Point point = (i % 2 == 0) ? Point.BEFORE_EFFECT : Point.AFTER_EFFECT;
				String key = "round-" + round + "-" + i + "-" + point;
				keys.add(key);
				one.sendLine(site.task(key, "u").withSkipInDoubt(true).stoppingAt(point, false).toString());
			}
			Awaitility.await().atMost(Site.PATIENCE).until(() -> Site.count(one, "at ") == RUNS);
			assertThat(ask(site, keys, "beside-" + round, two, three)).containsOnly("SKIPPED_HELD");
			one.kill();
		}
		return keys;
	}

	private static void forceRelease(Site site, List<String> keys) {
		for (int i = 0; i < keys.size(); i += 3) {
			site.provider.forceRelease(keys.get(i));
		}
	}

	// The instance two is stopped in good order with its calls on their way, and started.
	private static void stopWhileAsking(Site site, List<String> keys, int round, JavaProcess two, JavaProcess three) {
		keys.forEach((key) -> send(site, key, "stopped-" + round, two));
		two.sendLine("drain " + site.store);
		assertThat(ask(site, keys, "beside-stopped-" + round, three)).isSubsetOf(REFUSALS);
		two.awaitLine("drained", Site.PATIENCE);
		Awaitility.await()
			.atMost(Site.PATIENCE)
			.until(() -> keys.stream().allMatch((key) -> Site.count(two, "ended stopped-" + round + key + " ") == 1));
		assertThat(two.output()).filteredOn((line) -> line.startsWith("ended stopped-" + round))
			.allMatch((line) -> REFUSALS.contains(line.split(" ")[2]));
		site.join(two);
	}

	private static List<String> ask(Site site, List<String> keys, String id, JavaProcess... instances) {
		for (JavaProcess instance : instances) {
			keys.forEach((key) -> send(site, key, id, instance));
		}
		List<String> outcomes = new ArrayList<>();
		for (JavaProcess instance : instances) {
			Awaitility.await()
				.atMost(Site.PATIENCE)
				.until(() -> keys.stream().allMatch((key) -> Site.count(instance, "ended " + id + key + " ") == 1));
			instance.output()
				.stream()
				.filter((line) -> line.startsWith("ended " + id))
				.forEach((line) -> outcomes.add(line.split(" ")[2]));
		}
		return outcomes;
	}

	private static void send(Site site, String key, String id, JavaProcess instance) {
		instance.sendLine(site.task(key, "u").withId(id + key).withSkipInDoubt(true).toString());
	}

}
