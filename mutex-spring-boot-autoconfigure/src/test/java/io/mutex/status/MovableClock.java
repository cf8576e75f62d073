package io.mutex.status;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * A clock that a test sets.
 */
final class MovableClock extends Clock {

	private volatile Instant now;

	MovableClock(Instant now) {
		this.now = now;
	}

	void set(Instant now) {
		this.now = now;
	}

	void advance(Duration time) {
		this.now = this.now.plus(time);
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

	@Override
	public Instant instant() {
		return this.now;
	}

}
