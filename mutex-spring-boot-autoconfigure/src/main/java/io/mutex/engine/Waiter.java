package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * One that waits in the {@link WaitingLine}, which alone changes it.
 */
final class Waiter {

	private final Thread thread = Thread.currentThread();

	private final String key;

	private final @Nullable Duration takes;

	private final long deadline;

	private volatile boolean first;

	private volatile boolean told;

	private boolean asking;

	private volatile @Nullable Turn turn;

	/**
	 * Creates a waiter for the current thread.
	 * @param key the key
	 * @param takes the length of the lease of which it takes a turn, or {@code null} if
	 * it needs a grant of its own
	 * @param deadline until when it takes one, by the monotonic clock
	 */
	Waiter(String key, @Nullable Duration takes, long deadline) {
		this.key = key;
		this.takes = takes;
		this.deadline = deadline;
	}

	String key() {
		return this.key;
	}

	boolean isFirst() {
		return this.first;
	}

	/**
	 * Waits until this is handed a turn or, as the first of the line, told that it is
	 * time to ask the store.
	 * @param nanos how long at most
	 * @return the turn, or {@code null}
	 * @throws InterruptedException if the thread is interrupted and has no turn
	 */
	@Nullable Turn await(long nanos) throws InterruptedException {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; !isDue() && left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(this, left);
			if (this.turn == null && Thread.interrupted()) {
				throw new InterruptedException();
			}
		}
		// who was told asks after this, and finds what it was told of
		this.told = false;
		return this.turn;
	}

	boolean isDue() {
		return this.turn != null || (this.first && this.told);
	}

	@Nullable Turn turn() {
		return this.turn;
	}

	void toFront() {
		this.first = true;
	}

	void tell() {
		this.told = true;
		LockSupport.unpark(this.thread);
	}

	boolean isAsking() {
		return this.asking;
	}

	void asking(boolean asking) {
		this.asking = asking;
	}

	boolean takes(Turn turn, long now) {
		return !this.asking && this.takes != null && turn.lasts(this.takes) && this.deadline - now > 0;
	}

	void hand(Turn turn) {
		this.turn = turn;
		LockSupport.unpark(this.thread);
	}

	@Override
	public String toString() {
		return "waiter of '" + this.key + "'" + (this.first ? ", first" : "") + (this.told ? ", told" : "")
				+ (this.asking ? ", asking" : "") + ((this.turn != null) ? ", token " + this.turn.token() : "");
	}

}
