package io.mutex.benchmarks;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The classical ways to exclude the threads of one process from each other. Those that
 * spin yield the processor after some rounds, since there may be more threads than
 * processors.
 */
interface LocalLock {

	/**
	 * Waits until the thread may enter.
	 * @param thread the number of the thread
	 * @throws InterruptedException if the thread was interrupted
	 */
	void lock(int thread) throws InterruptedException;

	/**
	 * Lets another thread enter.
	 * @param thread the number of the thread
	 */
	void unlock(int thread);

	/**
	 * What a thread does with the lock.
	 * @param thread the number of the thread
	 * @return the work
	 */
	default Work work(int thread) {
		return (body) -> {
			lock(thread);
			try {
				body.run();
			}
			finally {
				unlock(thread);
			}
		};
	}

	private static void spinUntil(BooleanSupplier condition) {
		int rounds = 0;
		while (!condition.getAsBoolean()) {
			if (++rounds % 64 == 0) {
				Thread.yield();
			}
			else {
				Thread.onSpinWait();
			}
		}
	}

	static LocalLock of(ReentrantLock lock) {
		return new LocalLock() {

			@Override
			public void lock(int thread) {
				lock.lock();
			}

			@Override
			public void unlock(int thread) {
				lock.unlock();
			}

		};
	}

	static LocalLock of(Semaphore semaphore) {
		return new LocalLock() {

			@Override
			public void lock(int thread) throws InterruptedException {
				semaphore.acquire();
			}

			@Override
			public void unlock(int thread) {
				semaphore.release();
			}

		};
	}

	/**
	 * A flag that whoever finds it down raises, tried after it was seen down.
	 */
	final class TestAndSet implements LocalLock {

		private final AtomicBoolean taken = new AtomicBoolean();

		@Override
		public void lock(int thread) {
			spinUntil(() -> !this.taken.get() && !this.taken.getAndSet(true));
		}

		@Override
		public void unlock(int thread) {
			this.taken.set(false);
		}

	}

	/**
	 * Numbers drawn by fetch-and-add, served in order.
	 */
	final class Ticket implements LocalLock {

		private final AtomicInteger next = new AtomicInteger();

		private final AtomicInteger serving = new AtomicInteger();

		@Override
		public void lock(int thread) {
			int mine = this.next.getAndIncrement();
			spinUntil(() -> this.serving.get() == mine);
		}

		@Override
		public void unlock(int thread) {
			this.serving.incrementAndGet();
		}

	}

	/**
	 * A queue in which each thread watches the one before it (Craig; Landin and
	 * Hagersten).
	 */
	final class Clh implements LocalLock {

		private final AtomicReference<AtomicBoolean> tail = new AtomicReference<>(new AtomicBoolean());

		private volatile AtomicBoolean held = new AtomicBoolean();

		@Override
		public void lock(int thread) {
			AtomicBoolean mine = new AtomicBoolean(true);
			AtomicBoolean before = this.tail.getAndSet(mine);
			spinUntil(() -> !before.get());
			this.held = mine;
		}

		@Override
		public void unlock(int thread) {
			this.held.set(false);
		}

	}

	/**
	 * Peterson's algorithm, for the threads 0 and 1.
	 */
	final class Peterson implements LocalLock {

		private final AtomicIntegerArray wants = new AtomicIntegerArray(2);

		private final AtomicInteger turn = new AtomicInteger();

		@Override
		public void lock(int thread) {
			int other = 1 - thread;
			this.wants.set(thread, 1);
			this.turn.set(other);
			spinUntil(() -> this.wants.get(other) == 0 || this.turn.get() == thread);
		}

		@Override
		public void unlock(int thread) {
			this.wants.set(thread, 0);
		}

	}

	/**
	 * Lamport's bakery.
	 */
	final class Bakery implements LocalLock {

		private final AtomicIntegerArray choosing;

		private final AtomicLongArray number;

		Bakery(int threads) {
			this.choosing = new AtomicIntegerArray(threads);
			this.number = new AtomicLongArray(threads);
		}

		@Override
		public void lock(int thread) {
			this.choosing.set(thread, 1);
			long highest = 0;
			for (int other = 0; other < this.number.length(); other++) {
				highest = Math.max(highest, this.number.get(other));
			}
			long mine = highest + 1;
			this.number.set(thread, mine);
			this.choosing.set(thread, 0);
			for (int i = 0; i < this.number.length(); i++) {
				int other = i;
				spinUntil(() -> this.choosing.get(other) == 0);
				spinUntil(() -> !isBefore(other, mine, thread));
			}
		}

		private boolean isBefore(int other, long mine, int thread) {
			long theirs = this.number.get(other);
			return theirs != 0 && (theirs < mine || (theirs == mine && other < thread));
		}

		@Override
		public void unlock(int thread) {
			this.number.set(thread, 0);
		}

	}

}
