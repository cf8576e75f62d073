package io.mutex.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Granted;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexListener.Run;
import io.mutex.RunResult;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Attempts;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * How calls of single runs end: as a value, an event and a line in the log.
 */
class SingleRunTests {

	private static final LockRequest RUN = LockRequest.of("key").withUnit(RunUnit.of("1"));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final Logged log = new Logged("io.mutex.skip");

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.log.close();
		this.engines.close();
	}

	@Test
	void runIsExecutedAndRecorded() {
		RunResult<Integer> result = run(RUN);
		assertThat(result.outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(result.value()).isOne();
		assertThat(result.isExecuted()).isTrue();
		assertThat(record().status()).isEqualTo(Status.DONE);
		assertThat(event().outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(event().unit()).isEqualTo("1");
		assertThat(event().failure()).isNull();
	}

	@Test
	void unitThatIsDoneIsSkippedWithByWhomAndWhen() {
		run(RUN);
		RunResult<Integer> result = run(RUN);
		assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(result.value()).isNull();
		assertThat(result.record()).isEqualTo(record());
		assertThat(result.holder()).isEqualTo(record().owner());
		assertThat(this.log.at(Level.INFO)).singleElement()
			.asString()
			.contains("key=key", "unit=1", "succeeded by pod-1", record().ended().toString(),
					"token " + record().token());
		assertThat(event().outcome()).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(event().reason()).isEqualTo(result.reason());
		run(RUN.withAttempts(Attempts.SCHEDULED));
		assertThat(this.log.at(Level.INFO)).hasSize(1);
		assertThat(this.log.at(Level.DEBUG)).hasSize(1);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void keyThatIsHeldIsSkippedWithItsHolder() {
		grant("1", 0, Duration.ofMinutes(1));
		RunResult<Integer> result = run(RUN);
		assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(result.holder()).extracting(Owner::instance).isEqualTo("pod-2");
		assertThat(this.log.at(Level.INFO)).singleElement().asString().contains("key=key", "held by pod-2");
		assertThat(this.log.at(Level.WARN)).isEmpty();
		assertThat(event().outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void keyThatIsHeldForAnotherUnitIsAWarning() {
		grant("0", 0, Duration.ofMinutes(1));
		assertThat(run(RUN).outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(this.log.at(Level.WARN)).singleElement()
			.asString()
			.contains("runs unit 0", "unit 1 is being missed", "pod-2");
	}

	@Test
	void unitInDoubtIsReportedAndKeepsItsDoubt() {
		die("1");
		RunRecord doubt = record();
		for (LockRequest request : new LockRequest[] { RUN, RUN.withAttempts(Attempts.SCHEDULED) }) {
			RunResult<Integer> result = run(request.withSkipInDoubt(true));
			assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			assertThat(result.record()).extracting(RunRecord::token).isEqualTo(doubt.token());
			assertThat(event().outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
		}
		assertThat(this.log.at(Level.INFO)).hasSize(2)
			.allSatisfy((line) -> assertThat(line).contains("in doubt", "pod-2", doubt.began().toString()));
		assertThat(this.runs).hasValue(0);
		assertThat(record()).isEqualTo(doubt);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(run(RUN).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(record().status()).isEqualTo(Status.DONE);
		assertThat(record().attempt()).isEqualTo(2);
	}

	@Test
	void attemptOfTheScheduleAfterADeathIsTheNextOne() {
		die("1");
		assertThat(run(RUN.withAttempts(Attempts.SCHEDULED)).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(record().attempt()).isEqualTo(2);
	}

	@Test
	void attemptThatFailedElsewhereIsSkippedWithItsError() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.engine.singleRun(RUN.withAttempts(Attempts.SCHEDULED), (lease) -> {
				throw new IllegalStateException("body");
			}));
		assertThat(record().status()).isEqualTo(Status.FAILED);
		assertThat(event().outcome()).isEqualTo(Outcome.FAILED);
		assertThat(event().failure()).hasMessage("body");
		RunResult<Integer> result = run(RUN.withAttempts(Attempts.SCHEDULED));
		assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_FAILED);
		assertThat(this.log.at(Level.INFO)).singleElement()
			.asString()
			.contains("attempt 1 by pod-1", "failed at", "IllegalStateException: body");
		assertThat(this.runs).hasValue(0);
		assertThat(run(RUN.withAttempts(Attempts.SCHEDULED.repeated(2))).outcome()).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	void conditionThatIsTrueRecordsTheUnitWithoutRunningIt() {
		RunResult<Integer> result = run(RUN.withUnless(() -> this.store.lock("key").isPresent()));
		assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_DONE);
		assertThat(record().status()).isEqualTo(Status.DONE);
		assertThat(this.runs).hasValue(0);
		assertThat(this.log.at(Level.INFO)).hasSize(1);
		assertThat(event().outcome()).isEqualTo(Outcome.SKIPPED_DONE);
	}

	@Test
	void conditionIsAskedBeforeADoubtIsReported() {
		for (String unit : new String[] { "1", "2" }) {
			die(unit);
			LockRequest request = LockRequest.of("key").withUnit(RunUnit.of(unit)).withSkipInDoubt(true);
			Attempts attempts = unit.equals("1") ? Attempts.BY_HAND : Attempts.SCHEDULED;
			RunResult<Integer> result = run(request.withAttempts(attempts).withUnless(() -> false));
			assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
			result = run(request.withAttempts(attempts).withUnless(() -> true));
			assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED_DONE);
			assertThat(record().status()).isEqualTo(Status.DONE);
		}
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void conditionThatThrowsFailsWithoutAnAttempt() {
		assertThatIllegalStateException().isThrownBy(() -> run(RUN.withAttempts(Attempts.SCHEDULED).withUnless(() -> {
			throw new IllegalStateException("condition");
		}))).withMessage("condition");
		assertThat(event().outcome()).isEqualTo(Outcome.FAILED);
		assertThat(event().took()).isZero();
		assertThat(this.store.runs("key", 9)).isEmpty();
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(run(RUN.withAttempts(Attempts.SCHEDULED)).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(record().attempt()).isOne();
	}

	@Test
	void conditionThatIsFalseLetsTheUnitRun() {
		assertThat(run(RUN.withUnless(() -> false)).outcome()).isEqualTo(Outcome.EXECUTED);
	}

	@Test
	@DisplayName("N8 a condition that outlasts the lease does not record the unit")
	void conditionThatOutlastsTheLeaseDoesNotRecordTheUnit() {
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> run(RUN.withUnless(() -> {
			this.engines.time.pass(Duration.ofMinutes(10));
			return true;
		})));
		assertThat(this.store.runs("key", 9)).isEmpty();
		assertThat(event().outcome()).isEqualTo(Outcome.LEASE_LOST);
	}

	@Test
	@DisplayName("C2 a unit that begins tomorrow by the store's clock is refused with the offset")
	void unitThatBeginsTomorrowIsRefusedWithTheOffset() {
		Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
		LockRequest request = LockRequest.of("key")
			.withUnit(RunUnit.beginning("tomorrow", tomorrow, Duration.ofMinutes(1)));
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> run(request))
			.isNotInstanceOf(LockNotAcquiredException.class)
			.withMessageContaining("tomorrow")
			.withMessageContaining("PT23H59M")
			.withMessageContaining("clock");
		assertThat(event().outcome()).isEqualTo(Outcome.STORE_ERROR);
		assertThat(this.engines.events.acquisitions).containsExactly("too_early");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	@DisplayName("C111 a store that is down is an event and an exception, and never a skip")
	void storeThatIsDownIsAnEventAndAnException() {
		this.store.always(Op.ACQUIRE, FaultyProvider.DOWN);
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> run(RUN));
		assertThat(event().outcome()).isEqualTo(Outcome.STORE_ERROR);
		assertThat(event().failure()).isInstanceOf(MutexException.class);
		assertThat(this.engines.events.acquisitions).containsExactly("error");
	}

	@Test
	void runWithoutAUnitRunsEveryTime() {
		LockRequest request = LockRequest.of("key");
		assertThat(run(request).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(run(request).value()).isEqualTo(2);
		assertThat(this.store.runs("key", 9)).isEmpty();
	}

	private RunResult<Integer> run(LockRequest request) {
		return this.engine.singleRun(request, (lease) -> this.runs.incrementAndGet());
	}

	private Run event() {
		return this.engines.events.runs.get(this.engines.events.runs.size() - 1);
	}

	private RunRecord record() {
		return this.store.runs("key", 1).get(0);
	}

	private String grant(String unit, int attempt, Duration ttl) {
		String nonce = Engines.nonce();
		assertThat(this.store.acquire(new AcquireRequest("key", "key", nonce, new Owner("pod-2", "host", 2, "main"),
				ttl, 0, RunUnit.of(unit), attempt, 1)))
			.isInstanceOf(Granted.class);
		return nonce;
	}

	private void die(String unit) {
		this.store.release("key", grant(unit, 1, Duration.ofMinutes(1)), true);
	}

}
