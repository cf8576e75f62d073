package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Fence;
import io.mutex.FencingPolicy;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.fence.MemoryGuard;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handing a key over inside one process, without a call of the store for each holder.
 */
class HandOverTests {

	private static final Duration LEASE = Duration.ofMinutes(2);

	private static final LockRequest KEY = LockRequest.of("key")
		.withFencing(FencingPolicy.NONE)
		.withLease(LEASE)
		.withWaitFor(Duration.ofMinutes(10));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	private final List<Future<Lease>> waiters = new ArrayList<>();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("I1 I4 each holder has the key alone and a higher token than the one before")
	void eachHolderHasTheKeyAloneAndAHigherToken() throws Exception {
		int threads = 8;
		int holds = 400;
		long[] last = new long[1];
		AtomicInteger inside = new AtomicInteger();
		List<Future<?>> running = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			running.add(this.engines.threads.submit(() -> {
				for (int hold = 0; hold < holds; hold++) {
					this.engine.execute(KEY, (lease) -> {
						assertThat(inside.incrementAndGet()).isOne();
						assertThat(lease.token().value()).isGreaterThan(last[0]);
						last[0] = lease.token().value();
						return inside.decrementAndGet();
					});
				}
				return null;
			}));
		}
		for (Future<?> each : running) {
			each.get();
		}
		assertThat(this.store.calls(Op.RELEASE)).hasSizeBetween(threads * holds / Turn.MOST, threads * holds);
		assertThat(this.engines.events.granted).hasSize(threads * holds);
		assertThat(this.engines.events.ended).hasSize(threads * holds);
		assertThat(this.engines.events.lost).isEmpty();
		assertThat(this.engine.leases()).isEmpty();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void grantHasABoundedNumberOfTurns() throws Exception {
		Lease first = chain(Turn.MOST + 2, (lease) -> {
		});
		// the first of the line asks for a range, since others stand behind it
		List<Lease> leases = leases();
		assertThat(leases.get(0).nonce()).isNotEqualTo(first.nonce());
		assertThat(leases.subList(0, Turn.MOST)).extracting(Lease::nonce).containsOnly(leases.get(0).nonce());
		assertThat(leases.get(0).isHandedOver()).isFalse();
		assertThat(leases.subList(1, Turn.MOST)).allMatch(Lease::isHandedOver);
		assertThat(leases.get(Turn.MOST).nonce()).isNotEqualTo(leases.get(0).nonce());
		assertThat(leases).extracting(Lease::token).isSorted().doesNotHaveDuplicates();
		assertThat(this.store.calls(Op.RELEASE)).hasSize(3);
	}

	@Test
	void grantIsHandedOverForATenthOfItsLease() throws Exception {
		chain(4, (lease) -> this.engines.time.pass(Duration.ofSeconds(7)));
		List<Lease> leases = leases();
		assertThat(leases.subList(0, 2)).extracting(Lease::nonce).containsOnly(leases.get(0).nonce());
		assertThat(leases.get(2).nonce()).isNotEqualTo(leases.get(1).nonce()).isEqualTo(leases.get(3).nonce());
	}

	@Test
	void lostLeaseIsNotHandedOver() throws Exception {
		chain(3, (lease) -> {
			if (lease.isHandedOver() && this.engines.events.lost.isEmpty()) {
				this.engines.time.pass(LEASE);
			}
		}, 1);
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> this.waiters.get(1).get())
			.withCauseInstanceOf(LeaseLostException.class);
		Lease before = this.waiters.get(0).get();
		Lease after = this.waiters.get(2).get();
		assertThat(after.isHandedOver()).isFalse();
		assertThat(after.token()).isGreaterThan(before.token());
		assertThat(this.engines.events.lost).hasSize(1);
	}

	@Test
	@DisplayName("N3 a release whose answer was lost may have freed the key, so nothing is handed over after it")
	void nothingIsHandedOverAfterARelease() throws Exception {
		CountDownLatch free = hold(KEY);
		this.waiters.add(submit((lease) -> {
		}));
		awaitWaiting(1);
		this.waiters.add(submit((lease) -> this.store.next(Op.RELEASE, (call, release) -> {
			release.get();
			takeByAnother(Duration.ofSeconds(4));
			this.waiters.add(submit((last) -> {
			}));
			awaitWaiting(1);
			throw new MutexException(call.key(), "the answer is lost");
		})));
		awaitWaiting(2);
		free.countDown();
		assertThat(this.waiters.get(1).get().isHandedOver()).isTrue();
		Lease last = this.waiters.get(2).get();
		assertThat(last.isHandedOver()).isFalse();
		assertThat(last.nonce())
			.isEqualTo(this.store.calls(Op.ACQUIRE).get(this.store.calls(Op.ACQUIRE).size() - 1).nonce());
	}

	@Test
	void renewalCarriesTheGrantOfTheStore() throws Exception {
		LockRequest request = KEY.withLease(Duration.ofSeconds(4));
		CountDownLatch free = hold(request);
		Future<Lease> first = submit(request, (lease) -> awaitWaiting(1));
		awaitWaiting(1);
		Future<Long> second = this.engines.threads.submit(() -> this.engine.execute(request, (lease) -> {
			int before = this.store.calls(Op.RENEW).size();
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.RENEW).size() > before + 1);
			assertThat(lease.isValid()).isTrue();
			return lease.token().value();
		}));
		awaitWaiting(2);
		free.countDown();
		assertThat(second.get()).isGreaterThan(first.get().token().value());
		assertThat(this.engines.events.lost).isEmpty();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void callThatAGuardCoversTakesAGrantOfItsOwn() throws Exception {
		MemoryGuard guard = new MemoryGuard();
		this.engine.guardBy(List.of(guard));
		CountDownLatch free = hold(KEY);
		for (int i = 0; i < 4; i++) {
			FencingPolicy fencing = (i < 2) ? FencingPolicy.STRICT : FencingPolicy.NONE;
			this.waiters.add(submit(KEY.withFencing(fencing), (lease) -> {
			}));
			awaitWaiting(i + 1);
		}
		free.countDown();
		List<Lease> leases = leases();
		assertThat(leases).extracting(Lease::isHandedOver).containsExactly(false, false, false, true);
		assertThat(leases).extracting(Lease::token).isSorted().doesNotHaveDuplicates();
	}

	@Test
	@DisplayName("a guard that comes into play inside knows the holder by the token of the store")
	void guardThatComesIntoPlayInsideKnowsTheHolderByTheTokenOfTheStore() throws Exception {
		MemoryGuard guard = new MemoryGuard();
		this.engine.guardBy(List.of(guard));
		List<Fence> fences = new ArrayList<>();
		chain(3, (lease) -> {
			if (lease.isHandedOver() && fences.isEmpty()) {
				this.engine.execute(KEY.withFencing(FencingPolicy.STRICT), (again) -> fences.addAll(again.fences()));
				assertThat(this.store.lock("key")).hasValueSatisfying(
						(stored) -> assertThat(fences.get(0).token()).isEqualTo(new FencingToken(stored.token())));
			}
		});
		List<Lease> leases = leases();
		assertThat(fences).hasSize(1);
		assertThat(leases.get(1).nonce()).isEqualTo(leases.get(0).nonce());
		assertThat(leases.get(2).nonce()).isNotEqualTo(leases.get(1).nonce());
		assertThat(leases.get(2).token()).isGreaterThan(fences.get(0).token());
	}

	@Test
	void runOfAUnitTakesAGrantOfItsOwn() throws Exception {
		CountDownLatch free = hold(KEY);
		Future<?> run = this.engines.threads.submit(
				() -> this.engine.singleRun(KEY.withUnit(RunUnit.of("1")), (lease) -> lease.isHandedOver()).value());
		awaitWaiting(1);
		this.waiters.add(submit((lease) -> {
		}));
		awaitWaiting(2);
		free.countDown();
		assertThat(run.get()).isEqualTo(false);
		assertThat(leases().get(0).isHandedOver()).isFalse();
		assertThat(this.store.runs("key", 1)).hasSize(1);
	}

	@Test
	void endOfAStageHandsOverToo() throws Exception {
		CompletableFuture<String> stage = new CompletableFuture<>();
		CountDownLatch free = hold(KEY);
		Future<CompletableFuture<String>> first = this.engines.threads
			.submit(() -> this.engine.execute(KEY, (lease) -> stage));
		awaitWaiting(1);
		this.waiters.add(submit((lease) -> assertThat(stage).isDone()));
		awaitWaiting(2);
		free.countDown();
		CompletableFuture<String> result = first.get();
		assertThat(result).isNotDone();
		stage.complete("value");
		assertThat(result.get()).isEqualTo("value");
		assertThat(leases().get(0).isHandedOver()).isTrue();
	}

	@Test
	void lineDoesNotAskTheStoreWhileThisProcessHoldsTheKey() throws Exception {
		CountDownLatch free = hold(KEY);
		int asked = this.store.calls(Op.ACQUIRE).size();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.execute(KEY.withWaitFor(Duration.ofMillis(500)), (lease) -> null))
			.satisfies((ex) -> assertThat(ex.getHolder()).isNotNull())
			.withMessageContaining("pod-1");
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(asked);
		this.waiters.add(submit((lease) -> {
		}));
		awaitWaiting(1);
		free.countDown();
		leases();
		assertThat(this.store.calls(Op.ACQUIRE)).hasSize(asked + 1);
	}

	@Test
	void waiterAsksTheStoreOnceTheHolderOfThisProcessHasLostTheKey() throws Exception {
		CountDownLatch free = hold(KEY);
		this.waiters.add(submit((lease) -> {
		}));
		awaitWaiting(1);
		this.store.forceRelease("key");
		this.engines.time.pass(LEASE);
		assertThat(leases()).hasSize(1);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engines.events.lost.size() == 1);
		free.countDown();
	}

	@Test
	@DisplayName("I8 a key that was freed by force does not wait for the renewal of its holder")
	void waiterAsksTheStoreOnceTheKeyWasFreedByForce() throws Exception {
		CountDownLatch free = hold(KEY);
		this.waiters.add(submit((lease) -> {
		}));
		awaitWaiting(1);
		Lease holder = this.engine.leases().iterator().next();
		FencingToken raised = Objects.requireNonNull(this.store.forceRelease("key").token());
		this.engine.revoke("key", raised);
		assertThat(holder.isValid()).isFalse();
		Lease next = leases().get(0);
		assertThat(next.token()).isGreaterThan(raised);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engines.events.lost.size() == 1);
		this.engine.revoke("key", raised);
		assertThat(this.engines.events.lost).hasSize(1);
		free.countDown();
	}

	@Test
	@DisplayName("holders and waiters that fail, give up or are interrupted at any moment lose no turn")
	void nobodyLosesATurn() throws Exception {
		int threads = 8;
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger done = new AtomicInteger();
		List<Future<?>> running = new ArrayList<>();
		List<Thread> workers = new ArrayList<>();
		CountDownLatch started = new CountDownLatch(threads);
		for (int i = 0; i < threads; i++) {
			running.add(this.engines.threads.submit(() -> {
				synchronized (workers) {
					workers.add(Thread.currentThread());
				}
				started.countDown();
				for (int hold = 0; hold < 300; hold++) {
					long wait = ThreadLocalRandom.current().nextLong(1, 2_000_000);
					try {
						this.engine.execute(KEY.withWaitFor(Duration.ofNanos(wait)), (lease) -> {
							assertThat(inside.incrementAndGet()).isOne();
							inside.decrementAndGet();
							done.incrementAndGet();
							if (ThreadLocalRandom.current().nextInt(10) == 0) {
								throw new IllegalStateException("body");
							}
							return null;
						});
					}
					catch (LockNotAcquiredException | IllegalStateException ex) {
						Thread.interrupted();
					}
				}
				return null;
			}));
		}
		Engines.await(started);
		while (!running.stream().allMatch(Future::isDone)) {
			workers.get(ThreadLocalRandom.current().nextInt(threads)).interrupt();
			Thread.onSpinWait();
		}
		for (Future<?> each : running) {
			each.get();
		}
		assertThat(done).hasPositiveValue();
		assertThat(this.engine.waiting("key")).isZero();
		assertThat(this.engine.leases()).isEmpty();
		// what was given back after an interrupt may still be on its way
		assertThat(this.engine.<String, RuntimeException>execute(KEY, (lease) -> "free")).isEqualTo("free");
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.lock("key").isEmpty());
	}

	@Test
	void drainEndsTheTurns() throws Exception {
		CountDownLatch free = hold(KEY);
		for (int i = 0; i < 3; i++) {
			this.waiters.add(submit((lease) -> {
			}));
			awaitWaiting(i + 1);
		}
		Future<Boolean> drained = this.engines.threads.submit(() -> this.engine.drain(Engines.PATIENCE));
		for (Future<Lease> waiter : this.waiters) {
			assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(LockNotAcquiredException.class);
		}
		free.countDown();
		assertThat(drained.get()).isTrue();
		assertThat(this.store.lock("key")).isEmpty();
	}

	private Lease chain(int length, Consumer<Lease> work) throws Exception {
		return chain(length, work, length);
	}

	// One that holds the key while the others take their places, which it waits for.
	private Lease chain(int length, Consumer<Lease> work, int awaited) throws Exception {
		CountDownLatch free = new CountDownLatch(1);
		CountDownLatch held = new CountDownLatch(1);
		Future<Lease> first = this.engines.threads.submit(() -> this.engine.execute(KEY, (lease) -> {
			held.countDown();
			Engines.await(free);
			return lease;
		}));
		Engines.await(held);
		for (int i = 0; i < length; i++) {
			this.waiters.add(submit(work));
			awaitWaiting(i + 1);
		}
		free.countDown();
		Lease lease = first.get();
		for (int i = 0; i < awaited; i++) {
			this.waiters.get(i).get();
		}
		return lease;
	}

	// another instance, which dies with the key
	private void takeByAnother(Duration ttl) {
		assertThat(this.store.acquire(new AcquireRequest("key", "key", Engines.nonce(),
				new Owner("dead", "host", 1, "main"), ttl, 0, null, 0, 1)))
			.isInstanceOf(Acquisition.Granted.class);
	}

	private CountDownLatch hold(LockRequest request) throws InterruptedException {
		CountDownLatch free = new CountDownLatch(1);
		CountDownLatch held = new CountDownLatch(1);
		this.engines.threads.submit(() -> this.engine.execute(request, (lease) -> {
			held.countDown();
			Engines.awaitUninterruptibly(free);
			return null;
		}));
		Engines.await(held);
		return free;
	}

	private Future<Lease> submit(Consumer<Lease> work) {
		return submit(KEY, work);
	}

	private Future<Lease> submit(LockRequest request, Consumer<Lease> work) {
		return this.engines.threads.submit(() -> this.engine.execute(request, (lease) -> {
			work.accept(lease);
			return lease;
		}));
	}

	private void awaitWaiting(int waiting) {
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == waiting);
	}

	private List<Lease> leases() throws Exception {
		List<Lease> leases = new ArrayList<>();
		for (Future<Lease> waiter : this.waiters) {
			leases.add(waiter.get());
		}
		return leases;
	}

}
