package io.mutex.engine;

/**
 * When and how a lease is renewed next.
 */
final class NextRenewal {

	private volatile long due;

	private volatile long interval;

	private volatile boolean alone;

	// by the monotonic clock
	long due() {
		return this.due;
	}

	void at(long nanos) {
		this.due = nanos;
	}

	// how long after a renewal the next is due, 0 if that is not known yet
	long interval() {
		return this.interval;
	}

	void every(long nanos) {
		this.interval = nanos;
	}

	// whether its row is or may be locked, so that others are not kept waiting
	boolean isAlone() {
		return this.alone;
	}

	void alone(boolean alone) {
		this.alone = alone;
	}

}
