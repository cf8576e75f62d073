package io.mutex.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How long a lease is held and its work runs, by the clocks of this process.
 */
final class LeaseTerm {

	private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

	private final TimeSource time;

	private final boolean expires;

	private final long acquired;

	private final long maxHoldNanos;

	private volatile Validity validity;

	private volatile boolean begun;

	private volatile long began;

	private volatile @Nullable Long finished;

	/**
	 * Begins the term now.
	 * @param time the clocks
	 * @param validity how long the lease is believed unless it is renewed
	 * @param expires whether it ends by the passing of time
	 * @param maxHold the longest hold, or {@code null} for no limit
	 */
	LeaseTerm(TimeSource time, Validity validity, boolean expires, @Nullable Duration maxHold) {
		this.time = time;
		this.validity = validity;
		this.expires = expires;
		this.acquired = time.monotonicNanos();
		this.maxHoldNanos = (maxHold != null && maxHold.compareTo(LONGEST) < 0) ? maxHold.toNanos() : Long.MAX_VALUE;
	}

	TimeSource time() {
		return this.time;
	}

	Validity validity() {
		return this.validity;
	}

	void renewed(Validity renewed) {
		this.validity = renewed;
	}

	@Nullable Duration remaining() {
		return this.expires ? Duration.ofNanos(Math.max(0, this.validity.remaining(this.time))) : null;
	}

	/**
	 * What has ended the lease by the clocks, whether or not it has been noticed.
	 * @return the reason, or {@code null} if the lease is valid
	 */
	@Nullable String endedBy() {
		if (this.expires && this.validity.remaining(this.time) <= 0) {
			return "it could not be renewed before its deadline";
		}
		if (this.time.monotonicNanos() - this.acquired >= this.maxHoldNanos) {
			return "it was held longer than the longest hold allowed, " + Duration.ofNanos(this.maxHoldNanos);
		}
		return null;
	}

	// how long the lease may still be used to settle with the store
	long validityLeft() {
		return this.expires ? this.validity.remaining(this.time) : Long.MAX_VALUE;
	}

	// how long until the clocks end the lease, unless it is renewed
	long timeLeft() {
		return Math.min(validityLeft(), this.maxHoldNanos - (this.time.monotonicNanos() - this.acquired));
	}

	// the body is entered
	void begin() {
		this.began = this.time.monotonicNanos();
		this.begun = true;
	}

	// whether the body was entered
	boolean hasBegun() {
		return this.begun;
	}

	// the work has ended, whatever its settlement takes
	void finish() {
		this.finished = this.time.monotonicNanos();
	}

	Duration heldFor() {
		return Duration.ofNanos(endOfWork() - this.acquired);
	}

	// the time for which the body ran, or has run until now
	Duration ranFor() {
		return this.begun ? Duration.ofNanos(endOfWork() - this.began) : Duration.ZERO;
	}

	private long endOfWork() {
		Long end = this.finished;
		return (end != null) ? end : this.time.monotonicNanos();
	}

}
