package io.mutex.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Granted;
import io.mutex.LockRequest;
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
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Which attempt of a unit a call gets, and what it is told.
 */
class AttemptTests {

	private static final Duration DELAY = Duration.ofMinutes(1);

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final AtomicInteger runs = new AtomicInteger();

	private final List<Run> observed = new CopyOnWriteArrayList<>();

	private final LockRequest request = LockRequest.of("key")
		.withUnit(RunUnit.of("1"))
		.withAttempts(Attempts.SCHEDULED.withLimit(2, DELAY, null))
		.withObserver(this.observed::add);

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void failureLeavesTheDelayForTheNextAttempt() {
		fail(this.request);
		assertThat(record().notBefore()).isEqualTo(record().ended().plus(DELAY));
		assertThat(observation().outcome()).isEqualTo(Outcome.FAILED);
		assertThat(observation().attempt()).isOne();
		assertThat(run(this.request).outcome()).isEqualTo(Outcome.SKIPPED_FAILED);
		assertThat(observation().attempt()).isOne();
		assertThat(observation().record()).isEqualTo(record());
		assertThat(observation().remaining()).isPositive().isLessThanOrEqualTo(DELAY);
		assertThat(run(repeated(2)).outcome()).isEqualTo(Outcome.SKIPPED_FAILED);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void lastAttemptLeavesNoDelay() {
		LockRequest soon = this.request.withAttempts(Attempts.SCHEDULED.withLimit(2, Duration.ZERO, null));
		fail(soon);
		fail(soon.withAttempts(soon.attempts().repeated(2)));
		assertThat(record().attempt()).isEqualTo(2);
		assertThat(record().notBefore()).isEqualTo(record().ended());
		assertThat(run(soon.withAttempts(soon.attempts().repeated(2))).outcome()).isEqualTo(Outcome.SKIPPED_FAILED);
	}

	@Test
	void delayEndsAtTheNextFiring() {
		fail(this.request
			.withAttempts(Attempts.SCHEDULED.withLimit(2, DELAY, Instant.now().plus(Duration.ofSeconds(20)))));
		// the engine's wall clock counts milliseconds
		assertThat(Duration.between(record().ended(), record().notBefore())).isPositive()
			.isLessThanOrEqualTo(Duration.ofSeconds(20).plusMillis(1));
	}

	@Test
	void laterFiringTriesTheUnitOnceMore() {
		LockRequest first = this.request.withAttempts(Attempts.SCHEDULED);
		fail(first);
		Instant began = record().began();
		assertThat(run(this.request.withAttempts(Attempts.scheduled(began))).outcome())
			.isEqualTo(Outcome.SKIPPED_FAILED);
		int asked = this.store.calls(Op.ACQUIRE).size();
		LockRequest later = this.request.withAttempts(Attempts.scheduled(began.plusMillis(1)));
		assertThat(run(later).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(record().attempt()).isEqualTo(2);
		assertThat(this.store.calls(Op.ACQUIRE).size() - asked).isEqualTo(2);
	}

	@Test
	void deathIsFollowedWithinTheLimitAndByHandInAnyCase() {
		die(1);
		die(2);
		assertThat(run(this.request).outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
		assertThat(run(repeated(1)).outcome()).isEqualTo(Outcome.SKIPPED_IN_DOUBT);
		assertThat(observation().record()).extracting(RunRecord::attempt).isEqualTo(2);
		assertThat(this.runs).hasValue(0);
		assertThat(run(this.request.withAttempts(Attempts.BY_HAND)).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(record().attempt()).isEqualTo(3);
	}

	@Test
	void lookFindsTheUnitOfADeath() {
		die(1);
		assertThat(run(repeated(1)).outcome()).isEqualTo(Outcome.EXECUTED);
		assertThat(observation().attempt()).isEqualTo(2);
		assertThat(observation().origin()).isEqualTo(Attempts.Origin.STARTER);
	}

	@Test
	void heldKeyTellsTheUnitAndTheTimeLeft() {
		grant("0", 0);
		assertThat(run(this.request).outcome()).isEqualTo(Outcome.SKIPPED_HELD);
		assertThat(observation().isMissed()).isTrue();
		assertThat(observation().heldUnit()).isEqualTo("0");
		assertThat(observation().holder()).extracting(Owner::instance).isEqualTo("pod-2");
		assertThat(observation().remaining()).isPositive();
	}

	@Test
	void observerThatFailsHarmsNobody() {
		LockRequest observed = this.request.withObserver((run) -> {
			throw new IllegalStateException("observer");
		});
		assertThat(run(observed).outcome()).isEqualTo(Outcome.EXECUTED);
	}

	private LockRequest repeated(int attempt) {
		return this.request.withAttempts(this.request.attempts().repeated(attempt));
	}

	private RunResult<Integer> run(LockRequest asked) {
		return this.engine.singleRun(asked, (lease) -> this.runs.incrementAndGet());
	}

	private void fail(LockRequest asked) {
		assertThatIllegalStateException().isThrownBy(() -> this.engine.singleRun(asked, (lease) -> {
			throw new IllegalStateException("body");
		}));
		assertThat(record().status()).isEqualTo(Status.FAILED);
	}

	private Run observation() {
		return this.observed.get(this.observed.size() - 1);
	}

	private RunRecord record() {
		return this.store.runs("key", 1).get(0);
	}

	private void die(int attempt) {
		this.store.release("key", grant("1", attempt), true);
	}

	private String grant(String unit, int attempt) {
		String nonce = Engines.nonce();
		assertThat(this.store.acquire(new AcquireRequest("key", "key", nonce, new Owner("pod-2", "host", 2, "main"),
				Duration.ofMinutes(1), 0, RunUnit.of(unit), attempt, 1)))
			.isInstanceOf(Granted.class);
		return nonce;
	}

}
