package io.mutex.status;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * A success that this instance has heard of.
 *
 * @param key the key
 * @param unit the unit, or {@code null} if it was not recorded
 * @param began when the run began
 * @param ended when it ended
 * @param owner who ran it, or {@code null} if this instance did
 */
public record Success(String key, @Nullable String unit, Instant began, Instant ended, @Nullable Owner owner) {

	/**
	 * The success that a store has recorded.
	 * @param run the record
	 * @return the success
	 */
	public static Success of(RunRecord run) {
		return new Success(run.key(), run.unit(), run.began(), run.ended(), run.owner());
	}

	/**
	 * How long the run took.
	 * @return the duration, never negative
	 */
	public Duration took() {
		Duration between = Duration.between(this.began, this.ended);
		return between.isNegative() ? Duration.ZERO : between;
	}

}
