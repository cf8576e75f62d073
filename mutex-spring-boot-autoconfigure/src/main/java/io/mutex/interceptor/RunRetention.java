package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.Period;
import io.mutex.run.RunUnit;
import io.mutex.run.Ticks;
import org.jspecify.annotations.Nullable;

/**
 * How long what is known of a unit is kept: some time after its end, and not before the
 * unit after it has ended, so that no unit is opened again that a late call may mean.
 *
 * @param periods how long after the end of a unit, at least {@link RunUnit#MIN_KEPT}
 * @param named how long after its run a unit that a template names, or {@code null} for
 * ever
 */
public record RunRetention(Duration periods, @Nullable Duration named) {

	/**
	 * The retention of an application that configures nothing: 90 days, and units that a
	 * template names for ever.
	 */
	public static final RunRetention DEFAULT = new RunRetention(Duration.ofDays(90), null);

	@Nullable RunUnit keep(SingleRunOperation operation, @Nullable RunUnit unit) {
		if (unit == null) {
			return null;
		}
		if (operation.unit() != null) {
			return (this.named != null) ? unit.keptFor(this.named) : unit;
		}
		if (unit.within() != null) {
			return unit.keptFor(this.periods.plus(unit.within()));
		}
		Instant begins = unit.begins();
		Instant end = (begins != null) ? endOf(operation, begins) : null;
		Instant next = (end != null) ? endOf(operation, end) : null;
		if (end == null || next == null) {
			return unit; // for ever, or the last tick that there is
		}
		Instant until = end.plus(this.periods);
		return unit.keptFor(this.periods).keptUntil(until.isAfter(next) ? until : next);
	}

	private static @Nullable Instant endOf(SingleRunOperation operation, Instant begins) {
		if (operation.period().kind() == Period.Kind.TICK) {
			Ticks ticks = operation.schedule().ticks();
			return (ticks != null) ? ticks.next(begins) : null;
		}
		return operation.period().endOf(begins, operation.zone());
	}

}
