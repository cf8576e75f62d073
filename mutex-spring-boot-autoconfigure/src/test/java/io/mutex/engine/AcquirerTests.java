package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Call;
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
 * Asking a store that answers late, twice or not at all.
 */
class AcquirerTests {

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("C59 P3 an answer that arrives after the lease runs nothing and is given back")
	void answerThatArrivesAfterTheLeaseRunsNothing() {
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			Object answer = grant.get();
			this.engines.time.pass(Duration.ofSeconds(30));
			return answer;
		});
		assertThatExceptionOfType(MutexException.class).isThrownBy(this::call)
			.withMessageContaining("too late")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("key"));
		assertThat(this.runs).hasValue(0);
		awaitGivenBack();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("C59 the lease counts from the moment the request was sent")
	void leaseCountsFromTheMomentTheRequestWasSent() {
		this.store.always(Op.RENEW, FaultyProvider.DOWN);
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			Object answer = grant.get();
			this.engines.time.pass(Duration.ofSeconds(20));
			return answer;
		});
		Duration remaining = this.engine.execute(LockRequest.of("key"), (lease) -> lease.remaining());
		assertThat(remaining).isLessThan(Duration.ofSeconds(10)).isPositive();
	}

	@Test
	@DisplayName("N2 a lost answer is asked for again with the same nonce, and the body runs once")
	void lostAnswerIsAskedForAgainWithTheSameNonce() {
		long[] granted = new long[1];
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			granted[0] = ((Acquisition.Granted) grant.get()).token();
			throw new MutexException("the answer is lost");
		}, FaultyProvider.ANSWER_LOST);
		long token = this.engine.execute(LockRequest.of("key"), (lease) -> {
			this.runs.incrementAndGet();
			return lease.token().value();
		});
		assertThat(token).isEqualTo(granted[0]);
		assertThat(this.runs).hasValue(1);
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(3).extracting(Call::nonce).containsOnly(nonce());
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	@DisplayName("N3 C111 an answer that never comes runs nothing, and the nonce is released in the background")
	void answerThatNeverComesRunsNothing() {
		this.store.always(Op.ACQUIRE, FaultyProvider.ANSWER_LOST);
		assertThatExceptionOfType(MutexException.class).isThrownBy(this::call)
			.isNotInstanceOf(LockNotAcquiredException.class);
		assertThat(this.runs).hasValue(0);
		assertThat(this.store.calls(Op.ACQUIRE)).extracting(Call::nonce).containsOnly(nonce());
		awaitGivenBack();
		assertThat(this.store.lock("key")).isEmpty();
		assertThat(this.store.calls(Op.RELEASE)).singleElement()
			.satisfies((release) -> assertThat(release.detail()).isEqualTo("false"))
			.satisfies((release) -> assertThat(release.thread()).isNotEqualTo(Thread.currentThread().getName()));
	}

	@Test
	@DisplayName("C111 a store that is down is never free: single run and lock throw, whatever it throws")
	void storeThatIsDownIsNeverFree() {
		this.store.always(Op.ACQUIRE, (call, grant) -> {
			throw new IllegalStateException("driver");
		});
		assertThatExceptionOfType(MutexException.class).isThrownBy(this::call)
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("faulty")
			.withMessageContaining("'key'");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> this.engine
			.singleRun(LockRequest.of("key").withUnit(RunUnit.of("1")), (lease) -> this.runs.incrementAndGet()));
		assertThat(this.runs).hasValue(0);
	}

	@Test
	@DisplayName("N3 a request that is still under way when another was answered grants nothing later")
	void requestThatIsStillUnderWayGrantsNothingLater() {
		CountDownLatch free = new CountDownLatch(1);
		Future<?> holder = hold("key", free);
		this.store.next(Op.ACQUIRE, FaultyProvider.DOWN);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::call);
		awaitGivenBack();
		free.countDown();
		Awaitility.await().atMost(Engines.PATIENCE).until(holder::isDone);
		String late = this.store.calls(Op.ACQUIRE).get(1).nonce();
		assertThat(this.store.acquire(new AcquireRequest("key", "key", late, new Owner("pod", "host", 1, "main"),
				Duration.ofSeconds(30), 0, null, 0, 1)))
			.isInstanceOf(Acquisition.Stale.class);
	}

	@Test
	@DisplayName("N3 a request that is still under way when another was granted grants nothing after the next holder")
	void requestThatIsStillUnderWayGrantsNothingAfterTheNextHolder() {
		AtomicReference<Supplier<Object>> late = new AtomicReference<>();
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			late.set(grant);
			throw new MutexException(call.key(), "the answer is late");
		});
		call();
		LockEngine other = this.engines.other();
		other.execute(LockRequest.of("key"), (lease) -> "next");
		assertThat(late.get().get()).isInstanceOf(Acquisition.Stale.class);
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void errorOfADriverRunsNothingAndIsGivenBack() {
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			grant.get();
			throw new NoClassDefFoundError("driver");
		});
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(this::call);
		assertThat(this.runs).hasValue(0);
		awaitGivenBack();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void interruptWhileWaitingEndsTheWaitAndKeepsTheFlag() throws Exception {
		CountDownLatch free = new CountDownLatch(1);
		hold("key", free);
		CountDownLatch done = new CountDownLatch(1);
		Thread waiter = new Thread(() -> {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.engine.execute(LockRequest.of("key").withWaitFor(Duration.ofMinutes(5)),
						(lease) -> this.runs.incrementAndGet()))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.INTERRUPTED));
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			done.countDown();
		});
		waiter.start();
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == 1);
		waiter.interrupt();
		assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
		assertThat(this.engine.waiting("key")).isZero();
		assertThat(this.runs).hasValue(0);
		assertThat(this.engines.events.acquisitions).contains("interrupted");
		free.countDown();
	}

	@Test
	void storeThatRefusesAnInterruptedThreadIsReportedAsAnInterrupt() {
		this.store.always(Op.ACQUIRE, (call, grant) -> {
			Thread.currentThread().interrupt();
			throw new MutexException("interrupted");
		});
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::call)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.INTERRUPTED));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(1);
		awaitGivenBack();
	}

	@Test
	void heldKeyNamesItsHolderAndTheReason() {
		CountDownLatch free = new CountDownLatch(1);
		hold("key", free);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this::call)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.HELD))
			.satisfies((ex) -> assertThat(ex.getHolder()).isNotNull())
			.withMessageContaining("pod-1");
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(LockRequest.of("key").withWaitFor(Duration.ofMillis(120)),
					(lease) -> this.runs.incrementAndGet()))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.TIMED_OUT))
			.satisfies((ex) -> assertThat(ex.getHolder()).isNotNull());
		free.countDown();
	}

	@Test
	void usedUpNonceIsAnErrorAndNotAGrant() {
		this.store.next(Op.ACQUIRE, (call, grant) -> new Acquisition.Stale());
		assertThatExceptionOfType(MutexException.class).isThrownBy(this::call)
			.isNotInstanceOf(LockNotAcquiredException.class);
		assertThat(this.runs).hasValue(0);
	}

	private void call() {
		this.engine.execute(LockRequest.of("key"), (lease) -> this.runs.incrementAndGet());
	}

	private String nonce() {
		List<Call> calls = this.store.calls(Op.ACQUIRE);
		return calls.get(calls.size() - 1).nonce();
	}

	private void awaitGivenBack() {
		Awaitility.await()
			.atMost(Engines.PATIENCE)
			.untilAsserted(() -> assertThat(this.store.calls(Op.RELEASE)).extracting(Call::nonce).contains(nonce()));
	}

	private Future<?> hold(String key, CountDownLatch free) {
		CountDownLatch held = new CountDownLatch(1);
		Future<?> holder = this.engines.threads
			.submit(() -> this.engines.other().execute(LockRequest.of(key), (lease) -> {
				held.countDown();
				Engines.await(free);
				return null;
			}));
		Engines.awaitUninterruptibly(held);
		return holder;
	}

}
