package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What the store remembers of the last run of one unit of one key. All times are the
 * store's.
 *
 * @param key the key
 * @param unit the unit
 * @param status how that run ended
 * @param token the fencing token of that run
 * @param owner who ran it
 * @param attempt how many attempts of this unit had begun, 1 or more
 * @param began when its lease was granted
 * @param ended when its end was stored
 * @param notBefore the earliest time of the next attempt after a failure, else
 * {@code null}
 * @param error the class and message of the failure, else {@code null}
 */
public record RunRecord(String key, String unit, Status status, long token, Owner owner, int attempt, Instant began,
		Instant ended, @Nullable Instant notBefore, @Nullable String error) {

	/**
	 * How long the run took, from the grant to the stored end.
	 * @return the duration, never negative
	 */
	public Duration duration() {
		Duration between = Duration.between(this.began, this.ended);
		return between.isNegative() ? Duration.ZERO : between;
	}

	/**
	 * How a run ended.
	 */
	public enum Status {

		/**
		 * It succeeded: the unit is done.
		 */
		DONE,

		/**
		 * Its body failed: the unit is open.
		 */
		FAILED,

		/**
		 * It died or lost its lease: the unit is open, and nobody knows how far it came.
		 */
		IN_DOUBT

	}

}
