package io.mutex.proof;

import java.nio.file.Path;
import java.util.List;

import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The row of the crash table in which the lease is lost while the body runs: the process
 * stands still for longer than its lease, and goes on.
 */
class LostLeaseTests {

	private static final String UNIT = "2026-11-29";

	private static final List<Point> POINTS = List.of(Point.BEFORE_EFFECT, Point.AFTER_EFFECT, Point.BEFORE_COMPLETE);

	@TempDir
	static Path directory;

	@ParameterizedTest
	@DisplayName("C52 a process paused past its lease records nothing when it goes on, and learns of it")
	@EnumSource(names = { "POSTGRESQL", "MARIADB", "REDIS" })
	void pausedProcessRecordsNothing(Store store) {
		try (Site site = Site.of(store, directory); JavaProcess paused = startAndPause(site)) {
			for (Point point : POINTS) {
				site.awaitFree(point + "-true");
				site.awaitFree(point + "-false");
				assertThat(site.call(point + "-false", UNIT, false, "next").outcome()).isEqualTo(Outcome.EXECUTED);
				assertThat(site.call(point + "-true", UNIT, true, "next").outcome())
					.isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			}
			List<RunRecord> runs = runs(site);
			paused.resume();
			for (Point point : POINTS) {
				for (String key : List.of(point + "-false", point + "-true")) {
					if (point != Point.BEFORE_COMPLETE) {
						Awaitility.await()
							.atMost(Site.PATIENCE)
							.until(() -> paused.output().contains("interrupted " + key));
					}
					paused.sendLine("go " + key);
					assertThat(Site.ended(paused, key)).isEqualTo("LeaseLostException");
				}
				assertThat(site.effects(point + "-false", UNIT)).isEqualTo(2);
				assertThat(site.effects(point + "-true", UNIT)).isOne();
				assertThat(site.call(point + "-false", UNIT, false, "third").outcome()).isEqualTo(Outcome.SKIPPED_DONE);
				assertThat(site.call(point + "-true", UNIT, true, "third").outcome())
					.isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			}
			assertThat(runs(site))
				.usingRecursiveFieldByFieldElementComparatorOnFields("key", "status", "owner.instance")
				.isEqualTo(runs);
		}
	}

	@Test
	void pausedProcessKeepsItsLockOnFiles() {
		try (Site site = Site.of(Store.FILE, directory); JavaProcess paused = startAndPause(site)) {
			for (Point point : POINTS) {
				assertThat(site.call(point + "-false", UNIT, false, "next").outcome()).isEqualTo(Outcome.SKIPPED_HELD);
				assertThat(site.call(point + "-true", UNIT, true, "next").outcome()).isEqualTo(Outcome.SKIPPED_HELD);
			}
			paused.resume();
			for (Point point : POINTS) {
				for (String key : List.of(point + "-false", point + "-true")) {
					paused.sendLine("go " + key);
					assertThat(Site.ended(paused, key)).isEqualTo("EXECUTED");
					assertThat(site.effects(key, UNIT)).isOne();
				}
			}
		}
	}

	private static JavaProcess startAndPause(Site site) {
		JavaProcess process = site.start("paused");
		for (Point point : POINTS) {
			for (boolean skipInDoubt : new boolean[] { false, true }) {
				process.sendLine(site.task(point + "-" + skipInDoubt, UNIT)
					.withSkipInDoubt(skipInDoubt)
					.stoppingAt(point, false)
					.toString());
			}
		}
		Awaitility.await().atMost(Site.PATIENCE).until(() -> Site.count(process, "at ") == 2L * POINTS.size());
		process.pause();
		return process;
	}

	private static List<RunRecord> runs(Site site) {
		return POINTS.stream()
			.flatMap((point) -> List.of(point + "-false", point + "-true").stream())
			.map((key) -> site.provider.runs(key, 10))
			.peek((runs) -> assertThat(runs).hasSize(1))
			.flatMap(List::stream)
			.toList();
	}

}
