package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The firing of a schedule that a call belongs to.
 *
 * @param at when the schedule fires
 * @param tolerance how far a clock may be ahead and still mean this tick: half the
 * interval, at most one minute
 */
public record Tick(Instant at, Duration tolerance) {

	/**
	 * The longest tolerance: one minute.
	 */
	public static final Duration MAX_TOLERANCE = Duration.ofMinutes(1);

	/**
	 * The tick that a call from the scheduler belongs to: the nearest, where one ahead is
	 * only taken if its tolerance reaches back to now. Such a call came before its time
	 * and has to wait for it.
	 * @param ticks the schedule
	 * @param now the time of the call
	 * @return the tick, or {@code null} if none is near
	 */
	public static @Nullable Tick nearest(Ticks ticks, Instant now) {
		Instant previous = ticks.previousOrSame(now);
		Instant next = ticks.next(now);
		if (next != null) {
			Duration tolerance = tolerance(previous, next);
			if (Duration.between(now, next).compareTo(tolerance) <= 0 && !now.equals(previous)) {
				return new Tick(next, tolerance);
			}
		}
		return of(previous, next);
	}

	/**
	 * The tick that a call by hand belongs to: the latest.
	 * @param ticks the schedule
	 * @param now the time of the call
	 * @return the tick, or {@code null} if the schedule has not fired yet
	 */
	public static @Nullable Tick latest(Ticks ticks, Instant now) {
		return of(ticks.previousOrSame(now), ticks.next(now));
	}

	private static @Nullable Tick of(@Nullable Instant at, @Nullable Instant next) {
		return (at != null) ? new Tick(at, tolerance(at, next)) : null;
	}

	private static Duration tolerance(@Nullable Instant from, @Nullable Instant to) {
		if (from == null || to == null) {
			return MAX_TOLERANCE;
		}
		Duration half = Duration.between(from, to).dividedBy(2);
		return (half.compareTo(MAX_TOLERANCE) < 0) ? half : MAX_TOLERANCE;
	}

}
