package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The clocks of the system, each of which a test can move.
 */
final class SettableTime implements TimeSource {

	private final AtomicLong monotonic = new AtomicLong();

	private final AtomicLong wall = new AtomicLong();

	@Override
	public long monotonicNanos() {
		return SYSTEM.monotonicNanos() + this.monotonic.get();
	}

	@Override
	public long wallNanos() {
		return SYSTEM.wallNanos() + this.wall.get();
	}

	/**
	 * Lets time pass, on both clocks.
	 * @param duration how much
	 */
	void pass(Duration duration) {
		this.monotonic.addAndGet(duration.toNanos());
		this.wall.addAndGet(duration.toNanos());
	}

	/**
	 * Sets the time of day, as somebody with a watch might.
	 * @param step by how much, negative for back
	 */
	void stepWall(Duration step) {
		this.wall.addAndGet(step.toNanos());
	}

}
