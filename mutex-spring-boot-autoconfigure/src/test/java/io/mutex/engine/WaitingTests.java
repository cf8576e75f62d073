package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.Owner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Waiting for a key that somebody else holds.
 */
class WaitingTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	void waitersGetTheKeyInTheirOrderAndOnlyOneAsksTheStore() throws Exception {
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<Future<?>> waiters = new ArrayList<>();
		hold(Duration.ofMinutes(1));
		for (int i = 0; i < 5; i++) {
			int number = i;
			waiters.add(this.engines.threads
				.submit(() -> this.engine.execute(KEY.withWaitFor(Engines.PATIENCE), (lease) -> order.add(number))));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == number + 1);
		}
		awaitQuestions(6);
		assertThat(this.store.calls(Op.ACQUIRE)).extracting(Call::thread).hasSizeGreaterThan(5);
		assertThat(this.store.calls(Op.ACQUIRE).stream().map(Call::thread).distinct()).hasSize(1);
		this.store.forceRelease("key");
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(order).containsExactly(0, 1, 2, 3, 4);
		assertThat(this.engine.waiting("key")).isZero();
	}

	@Test
	@DisplayName("I8 a holder that died delays the next by its remaining lease and one poll")
	void holderThatDiedDelaysTheNextByItsRemainingLease() {
		hold(Duration.ofMillis(1500));
		long start = System.nanoTime();
		this.engine.execute(KEY.withWaitFor(Engines.PATIENCE), (lease) -> null);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(1300), Engines.PATIENCE);
	}

	@Test
	void releaseInThisProcessEndsTheWaitBeforeThePollIsDue() throws Exception {
		try (LockEngine patient = new LockEngine(this.store, polling(Duration.ofMinutes(5)), List.of())) {
			CountDownLatch held = new CountDownLatch(1);
			CountDownLatch free = new CountDownLatch(1);
			this.engines.threads.submit(() -> patient.execute(KEY, (lease) -> {
				held.countDown();
				Engines.await(free);
				return null;
			}));
			Engines.await(held);
			Future<String> waiter = this.engines.threads
				.submit(() -> patient.execute(KEY.withWaitFor(Duration.ofMinutes(4)), (lease) -> "value"));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> patient.waiting("key") == 1);
			free.countDown();
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isEqualTo("value");
		}
	}

	@Test
	void waiterThatIsPassedOverAsksBeforeThePollIsDue() throws Exception {
		try (LockEngine patient = new LockEngine(this.store, polling(Duration.ofSeconds(32)), List.of())) {
			AtomicInteger questions = new AtomicInteger();
			Owner holder = new Owner("other", "host", 1, "main");
			this.store.always(Op.ACQUIRE, (call, acquire) -> switch (questions.incrementAndGet()) {
				case 1 -> new Acquisition.Held(null, null, Duration.ofMinutes(1));
				case 2 -> new Acquisition.Held(holder, null, Duration.ofMinutes(1));
				default -> acquire.get();
			});
			Future<String> waiter = this.engines.threads
				.submit(() -> patient.execute(KEY.withWaitFor(Duration.ofMinutes(4)), (lease) -> "value"));
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> questions.get() == 2);
			assertThat(waiter).isNotDone();
			waiter.cancel(true);
		}
	}

	@Test
	void holderThatTheStoreCannotNamePassesNobodyOver() throws Exception {
		try (LockEngine patient = new LockEngine(this.store, polling(Duration.ofSeconds(32)), List.of())) {
			AtomicInteger questions = new AtomicInteger();
			this.store.always(Op.ACQUIRE, (call, acquire) -> {
				questions.incrementAndGet();
				return new Acquisition.Held(null, null, null);
			});
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> patient.execute(KEY.withWaitFor(Duration.ofSeconds(3)), (lease) -> null));
			assertThat(questions).hasValue(1);
		}
	}

	@Test
	void waiterThatIsPassedOverAgainAndAgainAsksLessAndLess() {
		EngineSettings settings = new EngineSettings("pod", Duration.ofSeconds(30), null, Duration.ofSeconds(30), null,
				true, Duration.ofMillis(50), Duration.ofMinutes(5), Duration.ofDays(90));
		try (LockEngine patient = new LockEngine(this.store, settings, List.of())) {
			AtomicInteger questions = new AtomicInteger();
			this.store.always(Op.ACQUIRE,
					(call, acquire) -> new Acquisition.Held(
							new Owner("other" + questions.incrementAndGet(), "host", 1, "main"), null,
							Duration.ofMinutes(1)));
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> patient.execute(KEY.withWaitFor(Duration.ofSeconds(3)), (lease) -> null));
			assertThat(questions).hasValueLessThan(30);
		}
	}

	@Test
	void waitEndsAtItsDeadlineAndAsksNothingAfterIt() {
		hold(Duration.ofMinutes(1));
		this.store.always(Op.ACQUIRE, (call, acquire) -> {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(400));
			return acquire.get();
		});
		assertTimedOut(Duration.ofMillis(300));
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
	}

	@Test
	void waitInTheLineEndsAtItsDeadlineWithoutAQuestion() throws Exception {
		hold(Duration.ofMinutes(1));
		Future<?> first = this.engines.threads
			.submit(() -> this.engine.execute(KEY.withWaitFor(Duration.ofSeconds(3)), (lease) -> null));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == 1);
		String self = Thread.currentThread().getName();
		assertTimedOut(Duration.ofMillis(200));
		assertThat(this.store.calls((call) -> call.thread().equals(self) && call.op() == Op.ACQUIRE)).isEmpty();
		Awaitility.await().atMost(Engines.PATIENCE).until(first::isDone);
		assertThat(this.engine.waiting("key")).isZero();
	}

	@Test
	@DisplayName("C111 a store that fails during the wait ends it with its error, not with a refusal")
	void storeThatFailsDuringTheWaitEndsItWithItsError() {
		hold(Duration.ofMinutes(1));
		this.store.next(Op.ACQUIRE, FaultyProvider.NONE, FaultyProvider.NONE);
		this.store.always(Op.ACQUIRE, FaultyProvider.DOWN);
		long start = System.nanoTime();
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withWaitFor(Duration.ofMinutes(5)), (lease) -> null))
			.isNotInstanceOf(LockNotAcquiredException.class);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
		assertThat(this.engine.waiting("key")).isZero();
	}

	@Test
	void answerThatIsLostDuringTheWaitDoesNotEndIt() {
		hold(Duration.ofMillis(1200));
		this.store.next(Op.ACQUIRE, FaultyProvider.NONE, FaultyProvider.ANSWER_LOST, FaultyProvider.NONE,
				FaultyProvider.DOWN);
		assertThat(this.engine.<String, RuntimeException>execute(KEY.withWaitFor(Engines.PATIENCE), (lease) -> "value"))
			.isEqualTo("value");
	}

	private static EngineSettings polling(Duration poll) {
		return new EngineSettings("pod", Duration.ofSeconds(30), null, Duration.ofSeconds(30), null, true, poll, poll,
				Duration.ofDays(90));
	}

	private void assertTimedOut(Duration waitFor) {
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withWaitFor(waitFor), (lease) -> null))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.TIMED_OUT));
	}

	// A holder that does not renew: its process has died.
	private void hold(Duration ttl) {
		this.store.acquire(new AcquireRequest("key", "key", Engines.nonce(), new Owner("dead", "host", 1, "main"), ttl,
				0, null, 0, 1));
		this.store.calls.clear();
	}

	private void awaitQuestions(int more) {
		int before = this.store.calls(Op.ACQUIRE).size();
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.ACQUIRE).size() >= before + more);
	}

}
