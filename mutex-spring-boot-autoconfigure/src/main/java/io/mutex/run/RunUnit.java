package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Which run of a job a call belongs to. At most one success is recorded for each key and
 * unit.
 *
 * @param id what identifies the unit, 1 to 200 characters, for example
 * {@code 2026-11-29}; the rules of a key apply
 * @param begins when the unit begins; {@code null} for a unit that has no place in time
 * @param tolerance how far {@code begins} may lie ahead of the store's time
 * @param within for a rolling period, how long after the start of a success no other run
 * starts; {@code null} for a unit that is done once and for all
 * @param keptFor how long after its latest run began what is known of the unit is kept at
 * least; {@code null} for ever
 * @param keptUntil until when it is kept in any case, or {@code null}
 */
public record RunUnit(String id, @Nullable Instant begins, Duration tolerance, @Nullable Duration within,
		@Nullable Duration keptFor, @Nullable Instant keptUntil) {

	/**
	 * The longest unit, in characters.
	 */
	public static final int MAX_LENGTH = 200;

	/**
	 * The shortest time that a record is kept after its run began: one hour.
	 */
	public static final Duration MIN_KEPT = Duration.ofHours(1);

	/** Longer than this is for ever: ten thousand days. */
	private static final Duration MAX_KEPT = Duration.ofDays(10_000);

	private static final String ROLLING = "~";

	public RunUnit {
		if (id.isBlank() || id.length() > MAX_LENGTH || !id.strip().equals(id)
				|| id.codePoints().anyMatch(RunUnit::isUnfit)) {
			throw new IllegalArgumentException("a unit must have 1 to " + MAX_LENGTH
					+ " characters, without white space around it, a control character or half of a surrogate pair,"
					+ " but was '" + id + "'");
		}
		if (tolerance.isNegative()) {
			throw new IllegalArgumentException("the tolerance of unit '" + id + "' must not be negative");
		}
		if (within != null && (within.isNegative() || within.isZero())) {
			throw new IllegalArgumentException("a rolling period must be longer than 0, but was " + within);
		}
		Duration shortest = (within != null && within.compareTo(MIN_KEPT) > 0) ? within : MIN_KEPT;
		if (keptFor != null && keptFor.compareTo(shortest) < 0) {
			throw new IllegalArgumentException("what is known of unit '" + id + "' must be kept for at least "
					+ shortest + ", but was to be kept for " + keptFor);
		}
		if (keptFor != null && keptFor.compareTo(MAX_KEPT) > 0) {
			keptFor = null;
		}
	}

	/**
	 * A unit named by the caller, without a place in time.
	 * @param id what identifies the unit
	 * @return the unit
	 */
	public static RunUnit of(String id) {
		return new RunUnit(id, null, Duration.ZERO, null, null, null);
	}

	/**
	 * A unit that begins at an instant.
	 * @param id what identifies the unit
	 * @param begins when it begins
	 * @param tolerance how far the beginning may lie ahead of the store's time
	 * @return the unit
	 */
	public static RunUnit beginning(String id, Instant begins, Duration tolerance) {
		return new RunUnit(id, begins, tolerance, null, null, null);
	}

	/**
	 * A rolling period: no run starts within that time of the start of the last success.
	 * @param within the length of the period, longer than 0
	 * @return the unit
	 */
	public static RunUnit rolling(Duration within) {
		return new RunUnit(ROLLING, null, Duration.ZERO, within, null, null);
	}

	/**
	 * Says how long what is known of the unit is kept: its record, its failure or its
	 * doubt. After that it may be forgotten, and the unit could run again. Without this
	 * it is kept for ever.
	 * @param time how long after its latest run began, at least {@link #MIN_KEPT}
	 * @return the changed copy
	 */
	public RunUnit keptFor(Duration time) {
		return new RunUnit(this.id, this.begins, this.tolerance, this.within, time, this.keptUntil);
	}

	/**
	 * Says until when what is known of the unit is kept in any case.
	 * @param moment a moment after which nobody asks for the unit
	 * @return the changed copy
	 */
	public RunUnit keptUntil(Instant moment) {
		return new RunUnit(this.id, this.begins, this.tolerance, this.within, this.keptFor, moment);
	}

	private static boolean isUnfit(int codePoint) {
		return Character.isISOControl(codePoint) || Character.getType(codePoint) == Character.SURROGATE;
	}

}
