package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * Which attempt of its unit a call is, and how often a unit that failed is tried again.
 * Immutable; each {@code with} method returns a changed copy.
 *
 * @param origin who calls
 * @param expected the number that the attempt must have, or 0 for whichever is next
 * @param earlier attempts that began before this moment belong to an earlier firing of
 * the schedule, and this call follows them; {@code null} if there is no such moment
 * @param limit how many attempts of a unit the schedule and the starter make between
 * them, or 0 if the starter makes none
 * @param delay how long after a failure the next attempt may begin, or {@code null} if
 * the starter does not try again what failed
 * @param until when the next firing ends the attempts, or {@code null} for never
 */
public record Attempts(Origin origin, int expected, @Nullable Instant earlier, int limit, @Nullable Duration delay,
		@Nullable Instant until) {

	/**
	 * A call by hand that is not tried again by the starter: whichever attempt is next.
	 */
	public static final Attempts BY_HAND = new Attempts(Origin.BY_HAND, 0, null, 0, null, null);

	/**
	 * The call of a scheduler, which is the first attempt of the unit.
	 */
	public static final Attempts SCHEDULED = scheduled(null);

	public Attempts {
		if (expected < 0 || limit < 0 || (delay != null && delay.isNegative())) {
			throw new IllegalArgumentException("expected attempt, limit and delay must not be negative, but were "
					+ expected + ", " + limit + " and " + delay);
		}
	}

	/**
	 * The call of a scheduler whose unit may have been tried by an earlier firing.
	 * @param earlier attempts that began before this moment are of an earlier firing
	 * @return the attempts
	 */
	public static Attempts scheduled(@Nullable Instant earlier) {
		return new Attempts(Origin.SCHEDULER, 1, earlier, 0, null, null);
	}

	/**
	 * Sets how many attempts the schedule and the starter make between them.
	 * @param limit how many; 0 if the starter makes none
	 * @param delay how long after a failure, or {@code null} if the starter does not try
	 * again what failed
	 * @param until when the next firing ends the attempts, or {@code null} for never
	 * @return the changed copy
	 */
	public Attempts withLimit(int limit, @Nullable Duration delay, @Nullable Instant until) {
		return new Attempts(this.origin, this.expected, this.earlier, limit, delay, until);
	}

	/**
	 * The call by which the starter makes an attempt, or looks whether one is due.
	 * @param attempt the number that the attempt must have
	 * @return the changed copy
	 */
	public Attempts repeated(int attempt) {
		return new Attempts(Origin.STARTER, attempt, null, this.limit, this.delay, this.until);
	}

	/**
	 * Whether the starter makes an attempt of this number.
	 * @param attempt the number
	 * @return {@code false} beyond the limit
	 */
	public boolean allows(int attempt) {
		return attempt <= this.limit;
	}

	/**
	 * Whether this call may ask again, for the attempt after the last one.
	 * @param last the last attempt, which is not the one that this call expected
	 * @param remaining how long until the next one may begin
	 * @return {@code true} after a death that leaves attempts, and after an earlier
	 * firing
	 */
	public boolean follow(RunRecord last, Duration remaining) {
		if (this.origin == Origin.BY_HAND || !remaining.isZero()) {
			return false;
		}
		if (last.status() == Status.IN_DOUBT && (this.limit == 0 || allows(last.attempt() + 1))) {
			return true;
		}
		return this.earlier != null && last.began().isBefore(this.earlier);
	}

	/**
	 * Whether the starter tries again what fails in an attempt of this number.
	 * @param attempt the number
	 * @return {@code false} if it does not, or no attempt is left
	 */
	public boolean retries(int attempt) {
		return this.delay != null && allows(attempt + 1);
	}

	/**
	 * How long after a failure the next attempt may begin.
	 * @param attempt the number of the attempt that failed
	 * @param now the time of the failure
	 * @return the delay, but no longer than until the next firing; zero if the starter
	 * makes no further attempt
	 */
	public Duration delayAfter(int attempt, Instant now) {
		if (this.delay == null || !allows(attempt + 1)) {
			return Duration.ZERO;
		}
		if (this.until == null || now.plus(this.delay).isBefore(this.until)) {
			return this.delay;
		}
		Duration left = Duration.between(now, this.until);
		return left.isNegative() ? Duration.ZERO : left;
	}

	/**
	 * Who calls.
	 */
	public enum Origin {

		/** The application, or a person. */
		BY_HAND,

		/** The scheduler, at a firing of the schedule. */
		SCHEDULER,

		/** The starter itself, which tries again or catches up. */
		STARTER

	}

}
