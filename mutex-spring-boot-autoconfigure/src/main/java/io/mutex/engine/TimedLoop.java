package io.mutex.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread that does one piece of work whenever it is due, and sleeps in between.
 */
final class TimedLoop {

	/** What the work returns when nothing is due until somebody wakes the loop. */
	static final long IDLE = Long.MAX_VALUE;

	private static final long AFTER_FAILURE = 100_000_000L;

	private static final Logger logger = LoggerFactory.getLogger(TimedLoop.class);

	private final String name;

	private final LongSupplier work;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private volatile @Nullable Thread thread;

	private boolean stopped;

	private volatile boolean idle = true;

	private volatile long dueAt;

	/**
	 * Creates a loop whose thread starts when it is first woken.
	 * @param name the name of the thread
	 * @param work the work, which returns in how many nanoseconds it is due again, or
	 * {@link #IDLE}
	 */
	TimedLoop(String name, LongSupplier work) {
		this.name = name;
		this.work = work;
	}

	/**
	 * Makes the work due soon, if it is not due sooner. Does nothing once the loop is
	 * stopped.
	 * @param nanos in how many nanoseconds at the latest
	 */
	void wakeWithin(long nanos) {
		long at = System.nanoTime() + nanos;
		if (isDueBy(at)) {
			return;
		}
		this.lock.lock();
		try {
			if (this.stopped) {
				return;
			}
			if (this.idle || at - this.dueAt < 0) {
				this.dueAt = at;
				this.idle = false;
				this.changed.signal();
			}
			// a thread that could not start, or died of an Error, is replaced
			Thread running = this.thread;
			if (running == null || !running.isAlive()) {
				Thread starting = new Thread(this::run, this.name);
				starting.setDaemon(true);
				starting.start();
				this.thread = starting;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	// Without the lock, since every lease that is granted asks. What the caller has done
	// before is seen by the work: the loop is idle before it begins.
	private boolean isDueBy(long at) {
		if (this.idle || this.dueAt - at > 0) {
			return false;
		}
		Thread running = this.thread;
		return running != null && running.isAlive();
	}

	/**
	 * Ends the thread, for good.
	 */
	void stop() {
		this.lock.lock();
		try {
			this.stopped = true;
			this.idle = true;
			this.changed.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void run() {
		while (awaitDue()) {
			long next = AFTER_FAILURE;
			try {
				next = this.work.getAsLong();
			}
			catch (RuntimeException | Error ex) {
				logger.error("Unexpected failure of {}, which goes on", this.name, ex);
			}
			if (next != IDLE) {
				wakeWithin(next);
			}
		}
	}

	private boolean awaitDue() {
		this.lock.lock();
		try {
			while (!this.stopped && (this.idle || this.dueAt - System.nanoTime() > 0)) {
				if (this.idle) {
					this.changed.await();
				}
				else {
					this.changed.awaitNanos(this.dueAt - System.nanoTime());
				}
			}
			this.idle = true;
		}
		catch (InterruptedException ex) {
			logger.debug("{} does not end by an interrupt", this.name);
		}
		finally {
			this.lock.unlock();
		}
		return !isStopped();
	}

	private boolean isStopped() {
		this.lock.lock();
		try {
			return this.stopped;
		}
		finally {
			this.lock.unlock();
		}
	}

}
