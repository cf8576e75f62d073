package io.mutex.engine;

import java.util.concurrent.TimeUnit;

/**
 * The two clocks of this process. Neither is ever sent to a store.
 */
public interface TimeSource {

	/**
	 * The clocks of the system.
	 */
	TimeSource SYSTEM = new TimeSource() {

		@Override
		public long monotonicNanos() {
			return System.nanoTime();
		}

		@Override
		public long wallNanos() {
			return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
		}

	};

	/**
	 * A clock that is never set, from an arbitrary origin.
	 * @return nanoseconds
	 */
	long monotonicNanos();

	/**
	 * The time of day, which somebody may set, from 1970-01-01T00:00Z.
	 * @return nanoseconds
	 */
	long wallNanos();

}
