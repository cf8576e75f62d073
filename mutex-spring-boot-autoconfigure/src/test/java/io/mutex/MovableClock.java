package io.mutex;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The system's clock, ahead or behind by what a test says.
 */
public final class MovableClock extends Clock {

	private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);

	/**
	 * Moves the clock on.
	 * @param time by how much, negative to set it back
	 */
	public void advance(Duration time) {
		this.ahead.accumulateAndGet(time, Duration::plus);
	}

	@Override
	public Instant instant() {
		return Instant.now().plus(this.ahead.get());
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

}
