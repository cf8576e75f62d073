package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The place of the next holder, and the store's hints that the key is free.
 */
class SignalTests {

	private static final LockRequest KEY = LockRequest.of("key").withFencing(FencingPolicy.NONE);

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void hintOfTheStoreEndsTheWaitBeforeThePollIsDue() throws Exception {
		AtomicInteger listening = new AtomicInteger();
		this.store.listening = (waiter, released) -> {
			listening.incrementAndGet();
			// fails at first, and is listened to again
			if (listening.get() == 1) {
				throw new MutexException("the connection has ended");
			}
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.lock("key").isEmpty());
			released.accept("another");
			released.accept("key");
			new CountDownLatch(1).await();
			return true;
		};
		try (LockEngine patient = patient()) {
			String nonce = hold();
			Future<String> waiter = this.engines.threads
				.submit(() -> patient.execute(KEY.withWaitFor(Duration.ofMinutes(4)), (lease) -> "value"));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> listening.get() == 2);
			this.store.release("key", nonce, true);
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isEqualTo("value");
		}
		assertThat(listening).hasValue(2);
	}

	@Test
	@DisplayName("I8 a hint that is lost delays a waiter by one poll")
	void hintThatIsLostDelaysAWaiterByOnePoll() throws Exception {
		this.store.listening = (waiter, released) -> {
			new CountDownLatch(1).await();
			return true;
		};
		String nonce = hold();
		Future<String> waiter = this.engines.threads
			.submit(() -> this.engines.engine.execute(KEY.withWaitFor(Duration.ofMinutes(4)), (lease) -> "value"));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engines.engine.waiting("key") == 1);
		this.store.release("key", nonce, true);
		assertThat(waiter.get(60, TimeUnit.SECONDS)).isEqualTo("value");
	}

	@Test
	void storeThatReportsNothingIsAskedForHintsOnce() {
		AtomicInteger asked = new AtomicInteger();
		this.store.listening = (waiter, released) -> {
			asked.incrementAndGet();
			return false;
		};
		hold();
		assertTimedOut(KEY.withWaitFor(Duration.ofMillis(200)));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> asked.get() == 1);
		assertTimedOut(KEY.withWaitFor(Duration.ofMillis(1500)));
		assertThat(asked).hasValue(1);
	}

	@Test
	void waiterReservesTheKeyForABitMoreThanTwoPolls() {
		hold();
		this.store.requests.clear();
		assertTimedOut(KEY.withWaitFor(Duration.ofMillis(500)));
		assertThat(this.store.requests).isNotEmpty();
		assertThat(this.store.requests).extracting(AcquireRequest::reservation)
			.doesNotContainNull()
			.allSatisfy((reservation) -> assertThat(reservation.lasting()).isBetween(Duration.ofMillis(100),
					Duration.ofMillis(452)))
			.extracting(Reservation::waiter)
			.containsOnly(this.store.requests.get(0).reservation().waiter());
		this.store.requests.clear();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engines.engine.execute(KEY, (lease) -> null));
		this.engines.engine.singleRun(KEY.withUnit(RunUnit.of("1")).withWaitFor(Duration.ofMillis(100)),
				(lease) -> null);
		assertThat(this.store.requests).extracting(AcquireRequest::reservation).containsOnlyNulls();
	}

	@Test
	void waiterOfAnotherInstanceGetsItsTurnFromALineThatNeverEnds() throws Exception {
		LockEngine other = this.engines.other();
		CountDownLatch got = new CountDownLatch(1);
		List<Future<?>> line = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			line.add(this.engines.threads.submit(() -> {
				while (got.getCount() > 0) {
					this.engines.engine.execute(KEY.withWaitFor(Engines.PATIENCE), Lease::key);
				}
				return null;
			}));
		}
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engines.events.granted.size() > 100);
		for (int i = 0; i < 5; i++) {
			other.execute(KEY.withWaitFor(Engines.PATIENCE), Lease::key);
		}
		got.countDown();
		for (Future<?> each : line) {
			each.get();
		}
	}

	@Test
	@DisplayName("C111 a store that fails is not asked again once the time to wait is over")
	void storeThatFailsIsNotAskedAgainOnceTheTimeIsOver() {
		this.store.always(Op.ACQUIRE, (call, acquire) -> {
			this.engines.time.pass(Duration.ofMillis(400));
			throw new MutexException(call.key(), "the store is down");
		});
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.engines.engine.execute(KEY.withWaitFor(Duration.ofMillis(300)), (lease) -> null))
			.isNotInstanceOf(LockNotAcquiredException.class);
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
		assertThat(this.engines.engine.waiting("key")).isZero();
	}

	private LockEngine patient() {
		EngineSettings slow = new EngineSettings("pod", Duration.ofSeconds(30), null, Duration.ofSeconds(30), null,
				true, Duration.ofMinutes(5), Duration.ofMinutes(5), Duration.ofDays(90));
		return new LockEngine(this.store, slow, List.of());
	}

	private String hold() {
		String nonce = Engines.nonce();
		this.store.acquire(new AcquireRequest("key", "key", nonce, new Owner("other", "host", 1, "main"),
				Duration.ofMinutes(1), 0, null, 0, 1));
		return nonce;
	}

	private void assertTimedOut(LockRequest request) {
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engines.engine.execute(request, (lease) -> null));
	}

}
