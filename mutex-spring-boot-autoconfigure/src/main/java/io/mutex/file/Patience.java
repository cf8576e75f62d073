package io.mutex.file;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long something is tried again that another process prevents for a moment.
 */
final class Patience {

	/**
	 * For what can as well be tried later.
	 */
	static final Duration BRIEF = Duration.ofMillis(250);

	/**
	 * For what has to be done.
	 */
	static final Duration LONG = Duration.ofSeconds(1);

	private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private final long start = System.nanoTime();

	private final Duration limit;

	Patience(Duration limit) {
		this.limit = limit;
	}

	/**
	 * Waits for a moment.
	 * @return {@code false}, at once, if it has been tried for long enough
	 */
	boolean pause() {
		if (System.nanoTime() - this.start > this.limit.toNanos()) {
			return false;
		}
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MIN_PAUSE, MAX_PAUSE));
		return true;
	}

}
