package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.FaultyProvider.Op;
import io.mutex.run.RunUnit;
import io.mutex.testing.Experiments;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances at one key, with requests of every kind and length of wait, threads
 * that are interrupted, bodies that fail, and a store that loses requests and answers.
 */
@Tag("experiment")
class StormTests {

	private static final int THREADS = 12;

	private static final int ROUNDS = Experiments.rounds(60, 2000);

	private static final int PERMITS = 3;

	private static final int ALONE = 1000;

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicInteger withPermits = new AtomicInteger();

	private final AtomicLong highest = new AtomicLong();

	private final AtomicInteger bodies = new AtomicInteger();

	private final AtomicInteger handedOver = new AtomicInteger();

	private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("I1 I4 I7 nobody is inside beside a holder that excludes it, and nothing is left behind")
	void holdersExcludeEachOtherAndLeaveNothingBehind() throws Exception {
		for (Op operation : List.of(Op.ACQUIRE, Op.RELEASE, Op.COMPLETE)) {
			this.store.always(operation, StormTests::fault);
		}
		List<LockEngine> instances = List.of(this.engines.engine, this.engines.other(), this.engines.other());
		ConcurrentLinkedQueue<Thread> workers = new ConcurrentLinkedQueue<>();
		CountDownLatch running = new CountDownLatch(THREADS);
		List<Future<?>> ends = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			LockEngine instance = instances.get(i % instances.size());
			ends.add(this.engines.threads.submit(() -> {
				workers.add(Thread.currentThread());
				try {
					for (int round = 0; round < ROUNDS; round++) {
						call(instance, ThreadLocalRandom.current());
					}
				}
				finally {
					workers.remove(Thread.currentThread());
					running.countDown();
				}
				return true;
			}));
		}
		while (!running.await(5, TimeUnit.MILLISECONDS)) {
			workers.stream()
				.skip(ThreadLocalRandom.current().nextInt(THREADS))
				.findFirst()
				.ifPresent(Thread::interrupt);
		}
		for (Future<?> end : ends) {
			end.get();
		}
		assertThat(this.violations).isEmpty();
		assertThat(this.bodies).hasPositiveValue();
		for (LockEngine instance : instances) {
			assertThat(instance.waiting("key")).isZero();
			assertThat(instance.leases()).isEmpty();
		}
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.locks(10).isEmpty());
		Experiments.report("storm", this.bodies + " bodies by " + THREADS + " threads of 3 instances, "
				+ this.handedOver + " of them handed over; no two that exclude each other");
	}

	// a part of the requests is lost, a part of the answers, and many take a while
	private static Object fault(FaultyProvider.Call call, Supplier<Object> work) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		int chance = call.thread().startsWith("mutex-background") ? 50 : random.nextInt(100);
		if (chance < 4) {
			throw new MutexException(call.key(), "the request is lost");
		}
		if (chance < 20) {
			LockSupport.parkNanos(random.nextLong(2_000_000));
		}
		Object answer = work.get();
		if (chance > 80) {
			LockSupport.parkNanos(random.nextLong(2_000_000));
		}
		if (chance > 95) {
			throw new MutexException(call.key(), "the answer is lost");
		}
		return answer;
	}

	private void call(LockEngine instance, ThreadLocalRandom random) {
		Duration waitFor = switch (random.nextInt(4)) {
			case 0 -> Duration.ZERO;
			case 1 -> Duration.ofNanos(random.nextLong(1, 3_000_000));
			case 2 -> Duration.ofMillis(random.nextLong(1, 60));
			default -> Duration.ofMinutes(1);
		};
		LockRequest request = LockRequest.of("key")
			.withFencing(FencingPolicy.NONE)
			.withLease(Duration.ofMinutes(10))
			.withWaitFor(waitFor);
		int kind = random.nextInt(10);
		try {
			switch (kind) {
				case 0 -> instance.singleRun(request.withUnit(RunUnit.of("u" + random.nextLong())), alone());
				case 1, 2, 3, 4, 5 -> instance.execute(request, alone());
				case 6, 7 -> instance.execute(request.withPermits(PERMITS), together(this.withPermits));
				default -> instance.execute(request.shared(), together(new AtomicInteger()));
			}
		}
		catch (LockNotAcquiredException | IllegalStateException ex) {
			Thread.interrupted();
		}
		catch (MutexException ex) {
			// the store did not answer
			Thread.interrupted();
		}
	}

	private LeaseCallback<Object, RuntimeException> alone() {
		return (lease) -> {
			if (this.inside.addAndGet(ALONE) != ALONE) {
				this.violations.add("not alone: " + this.inside + " with " + lease.token());
			}
			long token = lease.token().value();
			if (token <= this.highest.getAndSet(token)) {
				this.violations.add("token " + token + " fell");
			}
			return leave(lease, ALONE);
		};
	}

	private LeaseCallback<Object, RuntimeException> together(AtomicInteger holders) {
		return (lease) -> {
			int now = this.inside.incrementAndGet();
			int count = holders.incrementAndGet();
			try {
				if (now >= ALONE || count > PERMITS) {
					this.violations.add("one too many: " + now + ", " + count + " with " + lease.token());
				}
				return leave(lease, 1);
			}
			finally {
				holders.decrementAndGet();
			}
		};
	}

	private Object leave(Lease lease, int weight) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		LockSupport.parkNanos(random.nextLong(200_000));
		this.inside.addAndGet(-weight);
		this.bodies.incrementAndGet();
		this.handedOver.addAndGet(lease.isHandedOver() ? 1 : 0);
		if (random.nextInt(10) == 0) {
			throw new IllegalStateException("the body fails");
		}
		return this;
	}

}
