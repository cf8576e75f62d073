package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.mutex.LeaseLostException;
import io.mutex.LockRequest;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.proof.Instance.Task;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The crash table of the runs that are recorded after the body: a process ends at every
 * step of a run, and another instance calls the same unit after the lease. In the reduced
 * form one process for each store ends while one call stands at each step; in full, each
 * cell has a process of its own that halts itself at its step, and one that is killed
 * there.
 */
@Tag("experiment")
@TestInstance(Lifecycle.PER_CLASS)
class CrashTableTests {

	private static final String UNIT = "2026-11-29";

	private static final boolean FULL = Experiments.rounds(0, 1) == 1;

	@TempDir
	static Path directory;

	private final Map<Store, Site> sites = new EnumMap<>(Store.class);

	private final Set<Store> dead = EnumSet.noneOf(Store.class);

	private int deaths;

	static Stream<Arguments> cells() {
		List<Arguments> cells = new ArrayList<>();
		for (Store store : new Store[] { Store.FILE, Store.POSTGRESQL, Store.MARIADB, Store.REDIS }) {
			for (Point point : Point.values()) {
				if (point != Point.NONE) {
					cells.add(Arguments.of(store, point, false));
					cells.add(Arguments.of(store, point, true));
				}
			}
		}
		return cells.stream();
	}

	@ParameterizedTest(name = "{0}: died at {1}, onInDoubt = SKIP: {2}")
	@DisplayName("C47 a process dies at a step of a run, and another instance calls the unit after the lease")
	@MethodSource("cells")
	void unitIsRunAgainOrReportedAsTheTableSays(Store store, Point point, boolean skipInDoubt) {
		Site site = this.sites.computeIfAbsent(store, (name) -> Site.of(name, directory));
		if (!FULL) {
			dieTogether(site);
			check(site, key(point, skipInDoubt), point, skipInDoubt);
			return;
		}
		for (boolean halts : new boolean[] { true, false }) {
			String key = key(point, skipInDoubt) + "-" + halts;
			dieAlone(site, key, point, skipInDoubt, halts);
			this.deaths++;
			check(site, key, point, skipInDoubt);
		}
	}

	@AfterAll
	void report() {
		if (FULL) {
			Experiments.report("crash table", this.deaths + " processes halted or killed, each at a named step");
		}
		this.sites.values().forEach(Site::close);
	}

	private void check(Site site, String key, Point point, boolean skipInDoubt) {
		site.awaitFree(key);
		long before = site.effects(key, UNIT);
		assertThat(before).isEqualTo(hasEffect(point) ? 1 : 0);
		Outcome expected = expected(point, skipInDoubt);
		RunResult<?> result = site.call(key, UNIT, skipInDoubt, "next");
		assertThat(result.outcome()).isEqualTo(expected);
		long after = before + ((expected == Outcome.EXECUTED) ? 1 : 0);
		assertThat(site.effects(key, UNIT)).isEqualTo(after);
		boolean doubtful = expected == Outcome.SKIPPED_IN_DOUBT;
		assertThat(site.provider.runs(key, 10)).singleElement().satisfies((run) -> {
			assertThat(run.unit()).isEqualTo(UNIT);
			assertThat(run.status()).isEqualTo(doubtful ? Status.IN_DOUBT : Status.DONE);
			assertThat(run.owner().instance()).isEqualTo((expected == Outcome.EXECUTED) ? "next" : runner(point));
		});
		// a third instance finds the same, as often as it asks
		List<RunRecord> runs = site.provider.runs(key, 10);
		assertThat(site.call(key, UNIT, true, "third").outcome())
			.isEqualTo(doubtful ? Outcome.SKIPPED_IN_DOUBT : Outcome.SKIPPED_DONE);
		assertThat(site.provider.runs(key, 10)).isEqualTo(runs);
		assertThat(site.effects(key, UNIT)).isEqualTo(after);
	}

	private static boolean hasEffect(Point point) {
		return point == Point.AFTER_EFFECT || point == Point.BEFORE_COMPLETE || point == Point.AFTER_COMPLETE
				|| point == Point.RETURNED;
	}

	private static Outcome expected(Point point, boolean skipInDoubt) {
		return switch (point) {
			case AFTER_COMPLETE, RETURNED, UNLESS_AFTER_COMPLETE -> Outcome.SKIPPED_DONE;
			case BEFORE_ACQUIRE, AFTER_FAIL, THROWN -> Outcome.EXECUTED;
			default -> skipInDoubt ? Outcome.SKIPPED_IN_DOUBT : Outcome.EXECUTED;
		};
	}

	// Whose run is remembered if the next call has not run: a call that finds a doubt and
	// dies before it has released was granted the key, and is the newer doubt.
	private static String runner(Point point) {
		return (point == Point.IN_DOUBT_AFTER_RELEASE) ? "first" : "dead";
	}

	private void dieTogether(Site site) {
		if (!this.dead.add(site.store)) {
			return;
		}
		int calls = 2 * (Point.values().length - 1);
		try (JavaProcess process = site.start("dead")) {
			for (Point point : Point.values()) {
				if (point != Point.NONE) {
					process.sendLine(task(site, key(point, false), point, false, false).toString());
					process.sendLine(task(site, key(point, true), point, true, false).toString());
				}
			}
			Awaitility.await()
				.atMost(Site.PATIENCE)
				.until(() -> Site.count(process, "at ") + Site.count(process, "ended ") > calls);
			assertThat(Site.count(process, "at ")).as("those of %s", process.output()).isEqualTo(calls);
			process.sendLine("halt");
			assertThat(process.awaitExit(Site.PATIENCE)).isEqualTo(Instance.HALTED);
		}
	}

	private static void dieAlone(Site site, String key, Point point, boolean skipInDoubt, boolean halts) {
		try (JavaProcess process = site.start("dead")) {
			process.sendLine(task(site, key, point, skipInDoubt, halts).toString());
			if (halts) {
				assertThat(process.awaitExit(Site.PATIENCE)).isEqualTo(Instance.HALTED);
			}
			else {
				process.awaitLine("at ", Site.PATIENCE);
				process.kill();
			}
		}
	}

	private static String key(Point point, boolean skipInDoubt) {
		return point + "-" + skipInDoubt;
	}

	private static Task task(Site site, String key, Point point, boolean skipInDoubt, boolean halts) {
		if (point.isOfSkip()) {
			leaveInDoubt(site, key);
		}
		return site.task(key, UNIT).withSkipInDoubt(skipInDoubt || point.isOfSkip()).stoppingAt(point, halts);
	}

	// What the end of a process leaves at the next grant, at once.
	private static void leaveInDoubt(Site site, String key) {
		try (LockEngine engine = new LockEngine(site.provider, EngineSettings.defaults("first"), List.of())) {
			LockRequest request = LockRequest.of(key).withUnit(RunUnit.of(UNIT)).withLease(Duration.ofSeconds(30));
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(
					() -> engine.singleRun(request, (lease) -> site.provider.release(key, lease.nonce(), true)));
		}
	}

}
