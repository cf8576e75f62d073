package io.mutex.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of this process, first-in first-out for each key. Only the first of a key
 * asks the store, or is handed the turn of a holder of this process while it does not.
 * Keeps nothing of a key that nobody waits for.
 */
final class WaitingLine {

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<String, Set<Waiter>> lines = new HashMap<>();

	/**
	 * Puts the current thread at the end of the line of a key.
	 * @param key the key
	 * @param takes the length of the lease of which it takes a turn, or {@code null} if
	 * it needs a grant of its own
	 * @param deadline until when it takes one, by the monotonic clock
	 * @return the place, which has to {@link #leave}
	 */
	Waiter join(String key, @Nullable Duration takes, long deadline) {
		Waiter waiter = new Waiter(key, takes, deadline);
		this.lock.lock();
		try {
			Set<Waiter> line = this.lines.computeIfAbsent(key, (absent) -> new LinkedHashSet<>());
			if (line.isEmpty()) {
				waiter.toFront();
			}
			line.add(waiter);
		}
		finally {
			this.lock.unlock();
		}
		return waiter;
	}

	/**
	 * Begins a question to the store, during which no turn is handed over.
	 * @param waiter who asks
	 * @return {@code false} if it must not ask: it is not the first, or has a turn
	 */
	boolean ask(Waiter waiter) {
		this.lock.lock();
		try {
			boolean may = waiter.isFirst() && waiter.turn() == null;
			waiter.asking(may);
			return may;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Ends a question that the store has refused.
	 * @param waiter who has asked
	 */
	void refused(Waiter waiter) {
		this.lock.lock();
		try {
			waiter.asking(false);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Leaves the line, also if that was done before.
	 * @param waiter who leaves
	 * @param free whether the next one has a reason to ask the store at once
	 * @return the turn that it was handed before, or {@code null}
	 */
	@Nullable Turn leave(Waiter waiter, boolean free) {
		this.lock.lock();
		try {
			Waiter next = remove(waiter);
			if (next != null && free) {
				next.tell();
			}
			return waiter.turn();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Hands a turn to the first of a line.
	 * @param key the key
	 * @param turn the turn
	 * @param now the time, by the monotonic clock
	 * @return {@code false} if nobody takes it
	 */
	boolean handOver(String key, Turn turn, long now) {
		this.lock.lock();
		try {
			Waiter first = first(key);
			if (first == null || !first.takes(turn, now)) {
				return false;
			}
			// the next one has to wait for the end of this turn, and is not woken
			remove(first);
			first.hand(turn);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Tells the first of a line that the key may be free.
	 * @param key the key
	 */
	void released(String key) {
		this.lock.lock();
		try {
			Waiter first = first(key);
			if (first != null) {
				first.tell();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Lets the first of every line ask again, or give up.
	 */
	void wakeAll() {
		this.lock.lock();
		try {
			this.lines.values().forEach((line) -> line.iterator().next().tell());
		}
		finally {
			this.lock.unlock();
		}
	}

	int waiting(String key) {
		this.lock.lock();
		try {
			Set<Waiter> line = this.lines.get(key);
			return (line != null) ? line.size() : 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable Waiter first(String key) {
		Set<Waiter> line = this.lines.get(key);
		return (line != null) ? line.iterator().next() : null;
	}

	// returns the one that has become the first
	private @Nullable Waiter remove(Waiter waiter) {
		Set<Waiter> line = this.lines.get(waiter.key());
		if (line == null || !line.remove(waiter)) {
			return null;
		}
		if (line.isEmpty()) {
			this.lines.remove(waiter.key());
			return null;
		}
		Waiter first = line.iterator().next();
		if (first.isFirst()) {
			return null;
		}
		first.toFront();
		return first;
	}

}
