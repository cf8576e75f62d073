package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

import io.mutex.Lease;
import io.mutex.MutexListener;
import org.jspecify.annotations.Nullable;

/**
 * How far the clock of this instance is ahead of the store's, read from the tokens that
 * the store grants: a token is the store's time in microseconds, unless the one before
 * was higher. So it costs nothing; it counts the way back of the answer as time ahead,
 * and says too little for as long as a store goes on from tokens that it granted before
 * its own clock was set back.
 */
public final class ClockOffset implements MutexListener {

	private final InstantSource clock;

	private volatile @Nullable Duration offset;

	/**
	 * Creates the measure.
	 * @param clock the clock of this instance
	 */
	public ClockOffset(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public void granted(Lease lease) {
		if (lease.isHandedOver()) {
			return; // its token was reserved earlier
		}
		Instant store = Instant.EPOCH.plus(lease.token().value(), ChronoUnit.MICROS);
		this.offset = Duration.between(store, this.clock.instant());
	}

	/**
	 * The offset at the last grant.
	 * @return the time that this instance is ahead, negative if it is behind, or
	 * {@code null} before the first grant
	 */
	public @Nullable Duration get() {
		return this.offset;
	}

}
