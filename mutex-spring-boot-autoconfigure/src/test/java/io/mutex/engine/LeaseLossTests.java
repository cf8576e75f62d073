package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import ch.qos.logback.classic.Level;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockRequest;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What happens when a lease ends before its work.
 */
class LeaseLossTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("C1 C60 a wall clock set forward by an hour loses the lease, loudly and for ever")
	void wallClockSetForwardLosesTheLease() {
		try (Logged log = new Logged(LeaseKeeper.class.getName())) {
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
				this.engines.time.stepWall(Duration.ofHours(1));
				assertThat(lease.isValid()).isFalse();
				awaitInterrupt();
				this.engines.time.stepWall(Duration.ofHours(-1));
				assertThat(lease.isValid()).isFalse();
				assertThat(lease.remaining()).isZero();
				return null;
			}));
			awaitLost();
			assertThat(log.at(Level.WARN)).singleElement()
				.asString()
				.contains("Lost lease: key=key token=")
				.contains("provider=faulty");
		}
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	@DisplayName("C1 C5 C60 a wall clock set back by an hour does not lengthen the lease")
	void wallClockSetBackDoesNotLengthenTheLease() {
		this.store.always(Op.RENEW, FaultyProvider.DOWN);
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			this.engines.time.stepWall(Duration.ofHours(-1));
			assertThat(lease.isValid()).isTrue();
			this.engines.time.pass(Duration.ofSeconds(30));
			assertThat(lease.isValid()).isFalse();
			return null;
		}));
	}

	@Test
	@DisplayName("N4 C60 nobody else gets in before the holder knows that its lease is over")
	void nobodyElseGetsInBeforeTheHolderKnows() {
		this.store.always(Op.RENEW, FaultyProvider.DOWN);
		LockEngine other = this.engines.other();
		AtomicInteger overlaps = new AtomicInteger();
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withLease(Duration.ofSeconds(1)), (lease) -> {
				Future<?> second = this.engines.threads
					.submit(() -> other.execute(KEY.withWaitFor(Engines.PATIENCE), (next) -> {
						if (lease.isValid()) {
							overlaps.incrementAndGet();
						}
						return null;
					}));
				awaitInterrupt();
				Awaitility.await().atMost(Engines.PATIENCE).until(second::isDone);
				second.get();
				return null;
			}));
		assertThat(overlaps).hasValue(0);
	}

	@Test
	void lostLeaseIsNeverRecordedAndLeavesTheDoubt() {
		this.store.next(Op.RENEW, FaultyProvider.answering((answers) -> List.of(Renewal.LOST)));
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(
				() -> this.engine.singleRun(KEY.withLease(Duration.ofSeconds(1)).withUnit(RunUnit.of("1")), (lease) -> {
					awaitInterrupt();
					return null;
				}))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("key"))
			.withMessageContaining("no longer names it");
		assertThat(this.store.calls(Op.COMPLETE)).isEmpty();
		assertThat(this.store.calls(Op.RELEASE)).singleElement()
			.satisfies((release) -> assertThat(release.detail()).isEqualTo("true"));
		assertThat(this.store.runs("key", 9)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.IN_DOUBT));
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.LEASE_LOST);
		awaitLost();
	}

	@Test
	void exceptionOfTheBodyWinsOverTheLossAndCarriesIt() {
		assertThatIllegalStateException().isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			this.engines.time.pass(Duration.ofMinutes(1));
			throw new IllegalStateException("body");
		}))
			.withMessage("body")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class));
	}

	@Test
	@DisplayName("N6 an answer to a renewal that comes after the deadline revives nothing")
	void renewalThatIsAnsweredAfterTheDeadlineRevivesNothing() {
		// the old deadline passes while the answer is on its way, the new one would not
		this.store.next(Op.RENEW, (call, renewal) -> {
			Object renewed = renewal.get();
			this.engines.time.pass(Duration.ofMillis(1500));
			return renewed;
		});
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withLease(Duration.ofSeconds(2)), (lease) -> {
				awaitInterrupt();
				assertThat(lease.isValid()).isFalse();
				return null;
			}));
		assertThat(this.store.calls(Op.RENEW)).hasSize(1);
	}

	@Test
	@DisplayName("N5 a renewal that hangs delays no loss, neither of its own lease nor of another")
	void renewalThatHangsDelaysNoLoss() {
		CountDownLatch hanging = new CountDownLatch(1);
		this.store.always(Op.RENEW, (call, renewal) -> {
			Engines.awaitUninterruptibly(hanging);
			return renewal.get();
		});
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withLease(Duration.ofSeconds(1)), (lease) -> {
				awaitInterrupt();
				return null;
			}));
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(
				() -> this.engine.execute(LockRequest.of("other").withMaxHold(Duration.ofMillis(300)), (lease) -> {
					awaitInterrupt();
					return null;
				}));
		hanging.countDown();
	}

	@Test
	@DisplayName("P8 a hold that is too long is lost, however well it could be renewed")
	void holdThatIsTooLongIsLost() {
		LockRequest request = KEY.withLease(Duration.ofSeconds(3)).withMaxHold(Duration.ofMillis(3500));
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(request, (lease) -> {
			awaitInterrupt();
			return null;
		})).withMessageContaining("longest hold allowed, PT3.5S");
		assertThat(this.store.calls(Op.RENEW)).isNotEmpty();
		assertThat(this.engines.events.ended).singleElement()
			.satisfies((held) -> assertThat(held).isGreaterThanOrEqualTo(Duration.ofMillis(3500)));
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("I7 a body does not begin when its lease was lost before")
	void bodyDoesNotBeginWhenItsLeaseWasLostBefore() {
		AtomicBoolean ran = new AtomicBoolean();
		LockRequest request = KEY.withUnit(RunUnit.of("1")).withUnless(() -> {
			this.engines.time.pass(Duration.ofMinutes(1));
			return false;
		});
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.singleRun(request, (lease) -> {
			ran.set(true);
			return null;
		}));
		assertThat(ran).isFalse();
		assertThat(this.store.calls(Op.RELEASE)).singleElement()
			.satisfies((release) -> assertThat(release.detail()).isEqualTo("false"));
		assertThat(this.store.runs("key", 9)).isEmpty();
		assertThat(this.engines.events.outcomes()).containsExactly(Outcome.LEASE_LOST);
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	@DisplayName("C65 a lease that is lost cannot be entered again")
	void lostLeaseCannotBeEnteredAgain() {
		AtomicBoolean inner = new AtomicBoolean();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			this.engines.time.pass(Duration.ofMinutes(1));
			return this.engine.execute(KEY, (again) -> {
				inner.set(true);
				return null;
			});
		}));
		assertThat(inner).isFalse();
	}

	@Test
	@DisplayName("N7 a key that was freed by force meanwhile is lost at the end, and nothing is recorded")
	void keyThatWasFreedByForceIsLostAtTheEnd() {
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.engine.singleRun(KEY.withUnit(RunUnit.of("1")), (lease) -> {
				this.store.forceRelease("key");
				return null;
			}))
			.withMessageContaining("another holder");
		assertThat(this.store.runs("key", 9)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.IN_DOUBT));
		assertThat(this.engines.events.lost).hasSize(1);
	}

	@Test
	void lossDoesNotInterruptWhereThatIsSwitchedOff() throws InterruptedException {
		EngineSettings settings = new EngineSettings("pod", Duration.ofSeconds(30), null, Duration.ofSeconds(30), null,
				false, Duration.ofMillis(50), Duration.ofSeconds(1), Duration.ofDays(90));
		try (LockEngine quiet = new LockEngine(this.store, settings, List.of(this.engines.events), this.engines.time,
				Engines::nonce)) {
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> quiet.execute(KEY, (lease) -> {
				this.engines.time.pass(Duration.ofMinutes(1));
				Awaitility.await().atMost(Engines.PATIENCE).until(() -> !this.engines.events.lost.isEmpty());
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
				return null;
			}));
		}
	}

	@Test
	void keyIsFreeOnceTheLostWorkHasEnded() {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			this.engines.time.stepWall(Duration.ofHours(1));
			awaitInterrupt();
			Future<String> second = this.engines.threads.submit(() -> this.engine.execute(KEY, Lease::key));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
				.withCauseInstanceOf(LockNotAcquiredException.class);
			return null;
		}));
		assertThat(this.store.lock("key")).isEmpty();
	}

	private void awaitLost() {
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engines.events.lost.size() == 1);
	}

	private static void awaitInterrupt() {
		long end = System.nanoTime() + Engines.PATIENCE.toNanos();
		while (!Thread.interrupted()) {
			assertThat(end - System.nanoTime()).as("an interrupt was to come").isPositive();
			LockSupport.parkNanos(1_000_000);
		}
	}

}
