package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Several holders of one key at once.
 */
class SharedHoldersTests {

	private static final LockRequest WRITE = LockRequest.of("key")
		.withFencing(FencingPolicy.NONE)
		.withWaitFor(Engines.PATIENCE);

	private static final LockRequest READ = WRITE.shared();

	private static final LockRequest NOW = READ.withWaitFor(Duration.ZERO);

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void readersShareTheKeyAndExcludeAWriter() {
		this.engine.execute(NOW, (first) -> {
			Lease other = this.engines.other().execute(NOW, (second) -> {
				assertHeld(() -> this.engines.other().execute(WRITE.withWaitFor(Duration.ZERO), (lease) -> null));
				return second;
			});
			assertThat(other.token()).isGreaterThan(first.token());
			assertThat(first.isValid()).isTrue();
			return null;
		});
		this.engine.execute(WRITE, (writer) -> {
			assertHeld(() -> this.engines.other().execute(NOW, (lease) -> null));
			return null;
		});
		assertThat(this.engines.events.lost).isEmpty();
	}

	@Test
	void permitsBoundTheHolders() throws Exception {
		LockRequest three = WRITE.withPermits(3);
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		List<Future<?>> holders = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			LockEngine engine = (i % 2 == 0) ? this.engine : this.engines.other();
			holders.add(this.engines.threads.submit(() -> engine.execute(three, (lease) -> {
				most.accumulateAndGet(inside.incrementAndGet(), Math::max);
				Awaitility.await().pollDelay(Duration.ofMillis(20)).until(() -> true);
				return inside.decrementAndGet();
			})));
		}
		for (Future<?> holder : holders) {
			holder.get();
		}
		assertThat(most).hasValueBetween(1, 3);
		assertThat(this.store.locks(10)).isEmpty();
	}

	@Test
	void readersThatWaitEnterTogetherOnceTheWriterHasLeft() throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch free = new CountDownLatch(1);
		Future<?> writer = this.engines.threads.submit(() -> this.engine.execute(WRITE, (lease) -> {
			held.countDown();
			Engines.await(free);
			return null;
		}));
		Engines.await(held);
		int readers = 4;
		CountDownLatch all = new CountDownLatch(readers);
		List<Future<?>> reading = new ArrayList<>();
		for (int i = 0; i < readers; i++) {
			reading.add(this.engines.threads.submit(() -> this.engine.execute(READ, (lease) -> {
				all.countDown();
				Engines.await(all);
				return null;
			})));
		}
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == readers);
		free.countDown();
		writer.get();
		for (Future<?> reader : reading) {
			reader.get();
		}
		assertThat(this.store.locks(10)).isEmpty();
	}

	@Test
	void writerThatWaitsIsNotOvertakenByReaders() throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch free = new CountDownLatch(1);
		LockEngine other = this.engines.other();
		Future<?> reader = this.engines.threads.submit(() -> other.execute(NOW, (lease) -> {
			held.countDown();
			Engines.await(free);
			return null;
		}));
		Engines.await(held);
		int asked = this.store.calls(Op.ACQUIRE).size();
		Future<Lease> writer = this.engines.threads.submit(() -> this.engine.execute(WRITE, (lease) -> lease));
		// once the place of the next holder is its own
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.ACQUIRE).size() > asked + 1);
		// the place lapses if the waiter is kept from asking for it, and is then taken
		// again
		Awaitility.await()
			.atMost(Engines.PATIENCE)
			.untilAsserted(() -> assertHeld(() -> other.execute(NOW, (lease) -> null)));
		free.countDown();
		reader.get();
		assertThat(writer.get().isHandedOver()).isFalse();
	}

	@Test
	void sharingTwiceKeepsTheLeaseAndAWriterMayReadItsOwn() {
		this.engine.execute(WRITE.withPermits(2), (outer) -> this.engine.execute(READ, (inner) -> {
			assertThat(inner).isSameAs(outer);
			return null;
		}));
		this.engine.execute(WRITE, (outer) -> this.engine.execute(READ, (inner) -> {
			assertThat(inner).isSameAs(outer);
			return null;
		}));
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(2);
	}

	@Test
	void readerThatAsksForItsKeyAloneIsRefusedInsteadOfWaitingForItself() {
		this.engine.execute(READ, (outer) -> {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.engine.execute(WRITE, (inner) -> null))
				.withMessageContaining("wait for itself")
				.isNotInstanceOf(LockNotAcquiredException.class);
			assertThat(outer.isValid()).isTrue();
			return null;
		});
	}

	@Test
	void oneOfManyCannotEnterAgainAsOneOfFewer() {
		this.engine.execute(READ, (outer) -> {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.engine.execute(READ.withPermits(2), (inner) -> null))
				.withMessageContaining("as one of 2");
			assertThat(outer.isValid()).isTrue();
			return null;
		});
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
	}

	@Test
	void severalHoldersHaveNeitherAUnitNorAGuard() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.execute(LockRequest.of("key").shared(), (lease) -> null))
			.withMessageContaining("withFencing(FencingPolicy.NONE)");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.singleRun(READ.withUnit(RunUnit.of("1")), (lease) -> null))
			.withMessageContaining("unit '1'");
		assertThat(this.store.calls).isEmpty();
	}

	@Test
	void sharedLeaseIsRenewed() {
		this.engine.execute(READ.withLease(Duration.ofSeconds(4)), (lease) -> {
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.RENEW).size() > 1);
			assertThat(lease.isValid()).isTrue();
			return null;
		});
		assertThat(this.engines.events.lost).isEmpty();
	}

	private static void assertHeld(Runnable call) {
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(call::run);
	}

}
