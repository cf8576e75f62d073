package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Five instances, each a process, that leave at the same millisecond.
 */
@Tag("experiment")
@TestInstance(Lifecycle.PER_CLASS)
class SimultaneousStartTests {

	private static final int INSTANCES = 5;

	private static final long LEAD_MILLIS = 100;

	private static final List<String> SKIPS = List.of("SKIPPED_HELD", "SKIPPED_DONE");

	@TempDir
	static Path directory;

	private final List<JavaProcess> instances = new ArrayList<>();

	@BeforeAll
	void start() {
		IntStream.range(0, INSTANCES).forEach((i) -> this.instances.add(Instance.launch("pod-" + i)));
		this.instances.forEach((instance) -> instance.awaitLine("ready", Site.PATIENCE));
	}

	@AfterAll
	void close() {
		this.instances.forEach(JavaProcess::close);
	}

	@ParameterizedTest
	@DisplayName("C36 C37 of five processes that leave at the same millisecond one runs, and none of those that follow")
	@EnumSource
	void oneOfThemRuns(Store store) {
		int rounds = Experiments.rounds(3, 20);
		int repeated = 0;
		try (Site site = Site.of(store, directory)) {
			this.instances.forEach(site::join);
			for (int round = 0; round < rounds; round++) {
				String unit = "round-" + round;
				List<String> outcomes = leave(site, unit, round + "-first");
				assertThat(outcomes).filteredOn("EXECUTED"::equals).hasSize(1);
				assertThat(outcomes).filteredOn(SKIPS::contains).hasSize(INSTANCES - 1);
				assertThat(leave(site, unit, round + "-again")).containsOnly("SKIPPED_DONE");
				assertThat(site.effects("recon", unit)).isOne();
				repeated += INSTANCES;
			}
			Experiments.report("simultaneous start, " + store, rounds + " rounds of " + INSTANCES + " processes: "
					+ rounds + " executions; repeated at once, " + repeated + " calls: 0 executions");
		}
		// those that were killed on purpose have left their mark
		assertThat(this.instances).flatExtracting(JavaProcess::output)
			.noneMatch((line) -> line.startsWith("overlap " + store + "-"));
	}

	private List<String> leave(Site site, String unit, String id) {
		long at = System.currentTimeMillis() + LEAD_MILLIS;
		String call = site.store + "-" + id;
		for (JavaProcess instance : this.instances) {
			Duration body = Duration.ofMillis(ThreadLocalRandom.current().nextInt(21));
			instance.sendLine(site.task("recon", unit).withId(call).withBody(body).at(at).toString());
		}
		return this.instances.stream().map((instance) -> Site.ended(instance, call)).toList();
	}

	@ParameterizedTest
	@DisplayName("C36 C51 the one that runs is killed in mid-work, and the next start does the work")
	@EnumSource
	void nextStartDoesTheWorkOfTheKilled(Store store) {
		int rounds = Experiments.rounds(1, 20);
		try (Site site = Site.of(store, directory)) {
			this.instances.forEach(site::join);
			for (int round = 0; round < rounds; round++) {
				String unit = "killed-" + round;
				killInMidWork(site, unit);
				assertThat(site.effects("recon", unit)).isZero();
				site.awaitFree("recon");
				JavaProcess next = site.start("next-" + round);
				this.instances.add(next);
				next.sendLine(site.task("recon", unit).withId(store + unit).toString());
				assertThat(Site.ended(next, store + unit)).isEqualTo("EXECUTED");
				assertThat(leave(site, unit, unit + "-again")).containsOnly("SKIPPED_DONE");
				assertThat(site.effects("recon", unit)).isOne();
			}
			Experiments.report("killed in mid-work, " + store,
					rounds + " processes killed: " + rounds + " executions by the next start");
		}
	}

	private void killInMidWork(Site site, String unit) {
		long at = System.currentTimeMillis() + LEAD_MILLIS;
		String id = site.store + "-" + unit;
		for (JavaProcess instance : this.instances) {
			instance
				.sendLine(site.task("recon", unit).withId(id).stoppingAt(Point.BEFORE_EFFECT, false).at(at).toString());
		}
		Awaitility.await()
			.atMost(Site.PATIENCE)
			.until(() -> this.instances.stream()
				.mapToLong((instance) -> Site.count(instance, "at " + id) + Site.count(instance, "ended " + id + " "))
				.sum() == INSTANCES);
		List<JavaProcess> running = this.instances.stream()
			.filter((instance) -> Site.count(instance, "at " + id) > 0)
			.toList();
		assertThat(running).hasSize(1);
		running.get(0).kill();
		running.get(0).close();
		this.instances.remove(running.get(0));
	}

}
