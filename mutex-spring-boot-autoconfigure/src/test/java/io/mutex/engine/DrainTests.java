package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import io.mutex.AcquireRequest;
import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The end of an application, and of an engine.
 */
class DrainTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final CountDownLatch entered = new CountDownLatch(1);

	private final CountDownLatch free = new CountDownLatch(1);

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.free.countDown();
		this.engines.close();
	}

	@Test
	@DisplayName("P9 a drain refuses new calls at once and waits for the running one, which may still nest")
	void drainRefusesNewCallsAndWaitsForTheRunningOne() throws Exception {
		Future<String> running = this.engines.threads.submit(() -> this.engine.execute(KEY, (lease) -> {
			this.entered.countDown();
			Engines.await(this.free);
			hold("inner", Duration.ofMillis(1200));
			LockRequest inner = LockRequest.of("inner").withWaitFor(Engines.PATIENCE);
			return this.engine.<String, RuntimeException>execute(inner,
					(nested) -> this.engine.execute(KEY, (again) -> "value"));
		}));
		Engines.await(this.entered);
		Future<Boolean> drained = this.engines.threads.submit(() -> this.engine.drain(Engines.PATIENCE));
		Awaitility.await().atMost(Engines.PATIENCE).untilAsserted(() -> assertShuttingDown(() -> call("new")));
		assertThat(drained).isNotDone();
		this.free.countDown();
		assertThat(running.get()).isEqualTo("value");
		assertThat(drained.get()).isTrue();
		assertThat(this.engines.events.lost).isEmpty();
		assertThat(this.engines.events.acquisitions).contains("shutdown");
		assertThat(this.store.calls((call) -> call.key().equals("new"))).isEmpty();
	}

	@Test
	@DisplayName("P9 what outlasts the drain is lost and interrupted, and nothing is sent for it again")
	void whatOutlastsTheDrainIsLostAndNothingIsSentForIt() throws Exception {
		Future<Object> running = runningForever(this.engines);
		Engines.await(this.entered);
		assertThat(this.engine.drain(Duration.ofMillis(50))).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(running::get)
			.withCauseInstanceOf(InterruptedException.class)
			.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).singleElement()
				.isInstanceOf(LeaseLostException.class));
		assertThat(this.engines.events.lost).singleElement().asString().contains("shutting down", "PT0.05S");
		assertThat(this.store.calls).extracting(Call::op).containsOnly(Op.ACQUIRE);
		assertThat(this.store.lock("key")).isPresent();
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	@DisplayName("P9 a drain waits for a key that was handed to a caller who has not begun, which goes back to the store")
	void drainWaitsForAKeyThatIsOnItsWayToACaller() throws Exception {
		CountDownLatch handed = new CountDownLatch(1);
		CountDownLatch late = new CountDownLatch(1);
		LockRequest key = KEY.withFencing(FencingPolicy.NONE).withWaitFor(Engines.PATIENCE);
		try (LockEngine slow = Engines.engine(this.store, TimeSource.SYSTEM, new MutexListener() {

			@Override
			public void granted(Lease lease) {
				if (lease.isHandedOver()) {
					handed.countDown();
					Engines.awaitUninterruptibly(late);
				}
			}

		})) {
			Future<Object> holder = this.engines.threads.submit(() -> slow.execute(key, (lease) -> {
				this.entered.countDown();
				Engines.await(this.free);
				return null;
			}));
			Engines.await(this.entered);
			// the first of the line has a range of tokens, and hands the key to the
			// second
			List<Future<Object>> waiters = new ArrayList<>();
			for (int i = 1; i <= 2; i++) {
				int waiting = i;
				waiters
					.add(this.engines.threads.submit(() -> slow.execute(key, (lease) -> this.runs.incrementAndGet())));
				Awaitility.await().atMost(Engines.PATIENCE).until(() -> slow.waiting("key") == waiting);
			}
			this.free.countDown();
			holder.get();
			waiters.get(0).get();
			Engines.await(handed);
			Future<Boolean> drained = this.engines.threads.submit(() -> slow.drain(Engines.PATIENCE));
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> drained.get(200, TimeUnit.MILLISECONDS));
			late.countDown();
			assertThat(drained.get()).isTrue();
			assertThat(this.store.lock("key")).isEmpty();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiters.get(1)::get)
				.withCauseInstanceOf(LockNotAcquiredException.class);
			assertThat(this.runs).hasValue(1);
		}
	}

	@Test
	@DisplayName("P9 where a key does not expire it is freed when the body ends, and not before")
	void keyThatDoesNotExpireIsFreedWhenTheBodyEnds() throws Exception {
		try (Engines file = new Engines(new FaultyProvider(new MemoryLockProvider(), false))) {
			CountDownLatch interrupted = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			Future<?> running = file.threads
				.submit(() -> file.engine.singleRun(KEY.withUnit(RunUnit.of("1")), (lease) -> {
					this.entered.countDown();
					try {
						this.free.await();
					}
					catch (InterruptedException ex) {
						interrupted.countDown();
						Engines.await(end);
					}
					return null;
				}));
			Engines.await(this.entered);
			assertThat(file.engine.drain(Duration.ZERO)).isFalse();
			Engines.await(interrupted);
			assertThat(file.store.calls(Op.RELEASE)).isEmpty();
			end.countDown();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(running::get)
				.withCauseInstanceOf(LeaseLostException.class);
			assertThat(file.store.calls(Op.RELEASE)).hasSize(1);
			assertThat(file.store.calls(Op.COMPLETE)).isEmpty();
			assertThat(file.store.lock("key")).isEmpty();
		}
	}

	@Test
	void startAfterADrainWorksAgain() {
		assertThat(this.engine.drain(Duration.ZERO)).isTrue();
		assertShuttingDown(() -> call("key"));
		this.engine.start();
		this.engine.execute(KEY.withLease(Duration.ofSeconds(3)), (lease) -> {
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.RENEW).size() > 1);
			return this.runs.incrementAndGet();
		});
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void waitersAreRefusedAtOnceAndAskNothingMore() throws Exception {
		EngineSettings slow = new EngineSettings("pod", Duration.ofSeconds(30), null, Duration.ofSeconds(30), null,
				true, Duration.ofMinutes(5), Duration.ofMinutes(5), Duration.ofDays(90));
		hold("key", Duration.ofMinutes(9));
		try (LockEngine patient = new LockEngine(this.store, slow, List.of())) {
			LockRequest request = KEY.withWaitFor(Duration.ofMinutes(4));
			Future<?> first = this.engines.threads.submit(() -> patient.execute(request, (lease) -> null));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> patient.waiting("key") == 1);
			Future<?> second = this.engines.threads.submit(() -> patient.execute(request, (lease) -> null));
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> patient.waiting("key") == 2);
			int asked = this.store.calls.size();
			assertThat(patient.drain(Duration.ZERO)).isTrue();
			for (Future<?> waiter : List.of(first, second)) {
				Awaitility.await().atMost(Engines.PATIENCE).until(waiter::isDone);
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
					.withCauseInstanceOf(LockNotAcquiredException.class);
			}
			assertThat(this.store.calls).hasSizeBetween(asked, asked + 1);
			assertThat(patient.waiting("key")).isZero();
		}
	}

	@Test
	void grantThatComesAfterTheDrainIsGivenBackAndRunsNothing() throws Exception {
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			this.entered.countDown();
			Engines.awaitUninterruptibly(this.free);
			return grant.get();
		});
		Future<?> call = this.engines.threads.submit(() -> call("key"));
		Engines.await(this.entered);
		assertThat(this.engine.drain(Duration.ofMillis(10))).isTrue();
		this.free.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.withCauseInstanceOf(LockNotAcquiredException.class);
		assertThat(this.runs).hasValue(0);
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	void bodyThatWasGivenUpMayNotNestAnyMore() throws Exception {
		AtomicBoolean refused = new AtomicBoolean();
		Future<?> running = this.engines.threads.submit(() -> this.engine.execute(KEY, (lease) -> {
			this.entered.countDown();
			Engines.awaitUninterruptibly(this.free);
			assertShuttingDown(() -> call("inner"));
			refused.set(true);
			return null;
		}));
		Engines.await(this.entered);
		this.engine.drain(Duration.ZERO);
		this.free.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(running::get)
			.withCauseInstanceOf(LeaseLostException.class);
		assertThat(refused).isTrue();
	}

	@Test
	void grantThatComesWithTheShutdownIsToldOfFromBeginningToEnd() {
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			Object granted = grant.get();
			this.engine.drain(Duration.ZERO);
			return granted;
		});
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(LockRequest.of("key"), (lease) -> "never"));
		assertThat(this.engines.events.granted).hasSameSizeAs(this.engines.events.ended);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void closeEndsTheThreadsOfTheEngine() throws Exception {
		// of applications that are kept for other tests
		Set<Thread> others = engineThreads();
		this.store.always(Op.ACQUIRE, FaultyProvider.ANSWER_LOST);
		try (LockEngine other = this.engines.other()) {
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> other.execute(LockRequest.of("background"), (lease) -> null));
		}
		this.store.always(Op.ACQUIRE, FaultyProvider.NONE);
		Future<Object> running = runningForever(this.engines);
		Engines.await(this.entered);
		assertThat(engineThreads()).anyMatch((thread) -> !others.contains(thread));
		this.engine.close();
		Awaitility.await().atMost(Engines.PATIENCE).until(running::isDone);
		Awaitility.await().atMost(Engines.PATIENCE).untilAsserted(() -> assertThat(engineThreads()).isSubsetOf(others));
	}

	private static Set<Thread> engineThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("mutex-"))
			.collect(Collectors.toSet());
	}

	private Future<Object> runningForever(Engines on) {
		return on.threads.submit(() -> on.engine.singleRun(KEY.withUnit(RunUnit.of("1")), (lease) -> {
			this.entered.countDown();
			new CountDownLatch(1).await();
			return null;
		}));
	}

	private void call(String key) {
		this.engine.execute(LockRequest.of(key), (lease) -> this.runs.incrementAndGet());
	}

	private void hold(String key, Duration ttl) {
		this.store.acquire(new AcquireRequest(key, key, Engines.nonce(), new Owner("dead", "host", 1, "main"), ttl, 0,
				null, 0, 1));
	}

	private static void assertShuttingDown(ThrowingCallable call) {
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.SHUTTING_DOWN));
	}

}
