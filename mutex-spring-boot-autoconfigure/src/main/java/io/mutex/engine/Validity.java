package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long this process may believe in a lease. Counted from the moment the request was
 * sent, less 1 % for clocks that run at different rates and a margin of 5 %, at least 50
 * ms; on the monotonic and on the wall clock, whichever ran further.
 *
 * @param sentMonotonic when the request was sent, by the monotonic clock
 * @param sentWall when the request was sent, by the wall clock
 * @param nanos how long the lease is believed from then on
 * @see <a href="https://dl.acm.org/doi/10.1145/74851.74870">C. Gray, D. Cheriton, Leases:
 * an efficient fault-tolerant mechanism for distributed file cache consistency, SOSP
 * 1989</a>
 */
record Validity(long sentMonotonic, long sentWall, long nanos) {

	private static final long MIN_MARGIN = TimeUnit.MILLISECONDS.toNanos(50);

	static Validity sentNow(TimeSource time, Duration ttl) {
		return new Validity(time.monotonicNanos(), time.wallNanos(), 0).lasting(ttl);
	}

	Validity lasting(Duration ttl) {
		long nanos = ttl.toNanos();
		return new Validity(this.sentMonotonic, this.sentWall, nanos - nanos / 100 - Math.max(MIN_MARGIN, nanos / 20));
	}

	long remaining(TimeSource time) {
		long elapsed = Math.max(time.monotonicNanos() - this.sentMonotonic, time.wallNanos() - this.sentWall);
		return this.nanos - elapsed;
	}

}
