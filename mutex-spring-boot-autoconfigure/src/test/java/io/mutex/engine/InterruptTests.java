package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.mutex.LeaseLostException;
import io.mutex.LockProvider.Grant;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Attempts;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Whose interrupt a thread sees, during a protected call and after it.
 */
class InterruptTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		Thread.interrupted();
		this.engines.close();
	}

	@Test
	void interruptOfALossIsTakenBackWhenTheCallEnds() {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			this.engines.time.stepWall(Duration.ofHours(1));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> !lease.isValid());
			awaitFlag();
			return null;
		}));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	@DisplayName("C67 an interrupt from outside survives the call, and the key is free at once")
	void interruptFromOutsideSurvivesAndTheKeyIsFree() {
		this.store.always(Op.RELEASE, (call, release) -> {
			if (Thread.currentThread().isInterrupted()) {
				throw new MutexException("the driver refuses an interrupted thread");
			}
			return release.get();
		});
		this.engine.execute(KEY, (lease) -> {
			Thread.currentThread().interrupt();
			return null;
		});
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.calls(Op.RELEASE)).hasSize(1);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("C67 an interrupt during the release delays nothing and asks no failing store in a busy loop")
	void interruptDuringTheReleaseAsksNoFailingStoreInABusyLoop() {
		this.store.next(Op.RELEASE, (call, release) -> {
			Thread.currentThread().interrupt();
			throw new MutexException("interrupted");
		}, (call, release) -> {
			if (Thread.currentThread().isInterrupted()) {
				throw new MutexException("the driver refuses an interrupted thread");
			}
			return release.get();
		});
		this.engine.execute(KEY, (lease) -> null);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.calls(Op.RELEASE)).hasSize(2);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("C67 a flag that was set before the loss is not the engine's to clear")
	void flagThatWasSetBeforeTheLossStays() {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.engine.execute(KEY, (lease) -> {
			Thread.currentThread().interrupt();
			this.engines.time.stepWall(Duration.ofHours(1));
			long end = System.nanoTime() + Engines.PATIENCE.toNanos();
			while (this.engines.events.lost.isEmpty() && end - System.nanoTime() > 0) {
				Thread.onSpinWait();
			}
			return null;
		}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void lossAndTheEndOfTheFrameExcludeEachOther() throws Exception {
		int rounds = 3_000;
		AtomicReference<@Nullable HeldLease> current = new AtomicReference<>();
		AtomicInteger done = new AtomicInteger();
		AtomicInteger lost = new AtomicInteger();
		Future<?> loser = this.engines.threads.submit(() -> {
			for (int round = 0; round < rounds; round++) {
				HeldLease lease = current.getAndSet(null);
				while (lease == null) {
					Thread.yield();
					lease = current.getAndSet(null);
				}
				spin();
				if (lease.lose("test", true)) {
					lost.incrementAndGet();
				}
				done.incrementAndGet();
			}
		});
		int stray = 0;
		for (int round = 0; round < rounds; round++) {
			HeldLease lease = lease();
			current.set(lease);
			lease.enter();
			spin();
			lease.leave();
			stray += await(done, round + 1);
		}
		loser.get();
		assertThat(lost).hasPositiveValue();
		assertThat(stray).isZero();
	}

	@Test
	void callThatEndsWhileTheApplicationStopsLeavesNoFlag() throws Exception {
		for (int round = 0; round < 300; round++) {
			AtomicReference<@Nullable Boolean> flag = new AtomicReference<>();
			Future<?> call = this.engines.threads.submit(() -> {
				try {
					this.engine.execute(KEY, (lease) -> {
						spin();
						return null;
					});
				}
				catch (MutexException ex) {
					// lost, refused or held until the abandoned lease has expired
				}
				flag.set(Thread.currentThread().isInterrupted());
			});
			spin();
			this.engine.drain(Duration.ZERO);
			call.get();
			this.engine.start();
			this.store.forceRelease("key");
			assertThat(flag.get()).isFalse();
		}
		assertThat(this.engine.leases()).isEmpty();
	}

	private HeldLease lease() {
		Validity validity = Validity.sentNow(TimeSource.SYSTEM, Duration.ofSeconds(30));
		Turn turn = Turn.first(new Grant("key", Engines.nonce(), 1, Duration.ofSeconds(30)), 1, validity);
		return new HeldLease(turn, "key", null, new LeaseTerm(TimeSource.SYSTEM, validity, true, null), false,
				Attempts.BY_HAND, 0, new Guards(new EngineListeners(List.of()), new MemoryLockProvider()));
	}

	private static int await(AtomicInteger done, int round) {
		while (done.get() < round) {
			Thread.yield();
		}
		return Thread.interrupted() ? 1 : 0;
	}

	private static void spin() {
		for (int i = ThreadLocalRandom.current().nextInt(400); i > 0; i--) {
			Thread.onSpinWait();
		}
	}

	private static void awaitFlag() {
		long end = System.nanoTime() + Engines.PATIENCE.toNanos();
		while (!Thread.currentThread().isInterrupted() && end - System.nanoTime() > 0) {
			LockSupport.parkNanos(1_000_000);
		}
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

}
