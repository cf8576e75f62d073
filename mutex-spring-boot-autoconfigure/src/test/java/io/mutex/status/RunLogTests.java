package io.mutex.status;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@link RunLog} and {@link LastSuccesses} remember, and what they forget.
 */
class RunLogTests {

	private final MovableClock clock = new MovableClock(Jobs.THREE);

	private final RunLog log = new RunLog(this.clock);

	private final LastSuccesses successes = new LastSuccesses(this.clock);

	@Test
	void remembersTheLatestEndsOfAKey() {
		for (int second = 0; second < RunLog.ENTRIES + 5; second++) {
			this.clock.advance(Duration.ofSeconds(1));
			this.log.run(Jobs.run("daily", "daily", Outcome.SKIPPED_HELD, null));
		}
		assertThat(this.log.of("daily")).hasSize(RunLog.ENTRIES);
		assertThat(this.log.of("daily").get(0)).satisfies((entry) -> {
			assertThat(entry.time()).isEqualTo(Jobs.THREE.plusSeconds(RunLog.ENTRIES + 5));
			assertThat(entry.reason()).isEqualTo("a reason");
			assertThat(entry.outcome()).isEqualTo(Outcome.SKIPPED_HELD);
			assertThat(entry.attempt()).isEqualTo(1);
		});
		assertThat(this.log.of("other")).isEmpty();
	}

	@Test
	void forgetsTheKeysThatWereSeenTheLongestTimeAgo() {
		this.log.run(Jobs.run("daily", "daily", Outcome.EXECUTED, null));
		for (int file = 0; file < 10_000; file++) {
			this.log.run(Jobs.run("import:" + file, "import:#{#file}", Outcome.EXECUTED, null));
		}
		assertThat(this.log.keysOf("import:#{#file}", 3)).containsExactly("import:9999", "import:9998", "import:9997");
		assertThat(this.log.keysOf("import:#{#file}", 10_000)).hasSize(RunLog.KEYS);
		assertThat(this.log.of("import:0")).isEmpty();
		assertThat(this.log.nameOf("import:9999")).isEqualTo("import:#{#file}");
		assertThat(this.log.of("daily")).hasSize(1);
	}

	@Test
	void learnsOfSuccessesOnThisInstanceAndElsewhere() {
		assertThat(this.successes.of("daily")).isNull();
		this.successes.run(Jobs.run("daily", "daily", Outcome.FAILED, null));
		assertThat(this.successes.of("daily")).isNull();
		this.successes.run(Jobs.run("daily", "daily", Outcome.EXECUTED, null));
		assertThat(this.successes.of("daily"))
			.isEqualTo(new Success("daily", "unit", Jobs.THREE.minusSeconds(41), Jobs.THREE, null));
		RunRecord later = record(RunRecord.Status.DONE, Jobs.THREE.plusSeconds(7));
		this.successes.run(Jobs.run("daily", "daily", Outcome.SKIPPED_DONE, later));
		assertThat(this.successes.of("daily")).isEqualTo(Success.of(later));
		this.successes.run(Jobs.run("daily", "daily", Outcome.SKIPPED_DONE, record(RunRecord.Status.DONE, Jobs.THREE)));
		this.successes.run(Jobs.run("daily", "daily", Outcome.SKIPPED_FAILED,
				record(RunRecord.Status.FAILED, Jobs.THREE.plusSeconds(9))));
		assertThat(this.successes.of("daily")).isEqualTo(Success.of(later));
		this.successes.forget("daily");
		assertThat(this.successes.of("daily")).isNull();
	}

	private static RunRecord record(RunRecord.Status status, Instant ended) {
		return new RunRecord("daily", "unit", status, 42, new Owner("pod-7", "host", 1, "main"), 1,
				ended.minusSeconds(1), ended, null, null);
	}

}
