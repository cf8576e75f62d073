package io.mutex.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of this process, first-in first-out for each key: only the first of a key
 * asks the store. Keeps nothing of a key that nobody waits for.
 */
final class WaitingLine {

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<String, Line> lines = new HashMap<>();

	/**
	 * Joins the line of a key and waits to become its first.
	 * @param key the key
	 * @param nanos how long to wait
	 * @return whether the caller is the first now, and has to {@link #leave(String)}
	 * @throws InterruptedException if the thread is interrupted; the line is left
	 */
	boolean join(String key, long nanos) throws InterruptedException {
		Line line = enter(key);
		boolean first = false;
		try {
			first = line.turn.tryAcquire(Math.max(0, nanos), TimeUnit.NANOSECONDS);
			return first;
		}
		finally {
			if (!first) {
				exit(key, line);
			}
		}
	}

	/**
	 * Lets the next of the line become its first.
	 * @param key the key
	 */
	void leave(String key) {
		Line line = find(key);
		if (line != null) {
			line.turn.release();
			exit(key, line);
		}
	}

	/**
	 * Waits, as the first of a line, until it is time to ask the store again.
	 * @param key the key
	 * @param nanos how long to wait, unless the key is released in this process before
	 * @throws InterruptedException if the thread is interrupted
	 */
	void pause(String key, long nanos) throws InterruptedException {
		Line line = find(key);
		if (line != null && line.released.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
			line.released.drainPermits();
		}
	}

	/**
	 * Tells the first of a line that this process has released the key.
	 * @param key the key
	 */
	void released(String key) {
		Line line = find(key);
		if (line != null) {
			line.released.release();
		}
	}

	/**
	 * Lets the first of every line ask again, or give up.
	 */
	void wakeAll() {
		this.lock.lock();
		try {
			this.lines.values().forEach((line) -> line.released.release());
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isEmpty(String key) {
		return find(key) == null;
	}

	int waiting(String key) {
		this.lock.lock();
		try {
			Line line = this.lines.get(key);
			return (line != null) ? line.members : 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable Line find(String key) {
		this.lock.lock();
		try {
			return this.lines.get(key);
		}
		finally {
			this.lock.unlock();
		}
	}

	private Line enter(String key) {
		this.lock.lock();
		try {
			Line line = this.lines.computeIfAbsent(key, (absent) -> new Line());
			line.members++;
			return line;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void exit(String key, Line line) {
		this.lock.lock();
		try {
			line.members--;
			if (line.members == 0) {
				this.lines.remove(key);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private static final class Line {

		private final Semaphore turn = new Semaphore(1, true);

		private final Semaphore released = new Semaphore(0);

		private int members;

	}

}
