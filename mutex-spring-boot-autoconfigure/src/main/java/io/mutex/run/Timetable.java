package io.mutex.run;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;

import org.jspecify.annotations.Nullable;

/**
 * When the units of a job are due: the schedule of its method together with what "once"
 * means.
 *
 * @param period what "once" means
 * @param zone the zone of calendar periods
 * @param ticks the cron schedule, or {@code null} if there is none
 * @param rate the fixed rate, or {@code null} if there is none
 * @param scheduled whether a schedule calls the method at all
 */
public record Timetable(Period period, ZoneId zone, @Nullable Ticks ticks, @Nullable Duration rate, boolean scheduled) {

	/**
	 * The shortest time after which an open unit is overdue: 10 seconds.
	 */
	public static final Duration MIN_GRACE = Duration.ofSeconds(10);

	/**
	 * The longest time after which an open unit is overdue: one hour.
	 */
	public static final Duration MAX_GRACE = Duration.ofHours(1);

	private static final Duration NO_INTERVAL = Duration.ofHours(1);

	/**
	 * The unit that a call by hand belongs to.
	 * @param now the time of the call
	 * @return the unit, or {@code null} if there is none: without records, or before the
	 * first tick
	 */
	public @Nullable RunUnit unitAt(Instant now) {
		if (this.ticks == null) {
			return (this.period.kind() != Period.Kind.TICK) ? this.period.unitAt(now, this.zone, Tick.MAX_TOLERANCE)
					: null;
		}
		Tick tick = Tick.latest(this.ticks, now);
		return (tick != null) ? this.period.unitAt(tick.at(), this.zone, tick.tolerance()) : null;
	}

	/**
	 * When the schedule fires next.
	 * @param now the time
	 * @return the next tick of a cron schedule, or {@code null}
	 */
	public @Nullable Instant nextTick(Instant now) {
		return (this.ticks != null) ? this.ticks.next(now) : null;
	}

	/**
	 * When the first unit is due of a job that has never run.
	 * @param since from when on somebody could have run it
	 * @return that time, or {@code null} if nothing is ever due
	 */
	public @Nullable Instant firstDue(Instant since) {
		if (!isEverDue()) {
			return null;
		}
		if (this.ticks != null) {
			return this.ticks.next(since);
		}
		return (this.period.kind() == Period.Kind.FOREVER) ? since : dueAfter(since);
	}

	/**
	 * When the next unit is due after a run.
	 * @param run when the run began, or its tick was
	 * @return that time, or {@code null} if nothing more is due
	 */
	public @Nullable Instant dueAfter(Instant run) {
		Instant from = isEverDue() ? endOfUnit(run) : null;
		return (from != null && this.ticks != null) ? this.ticks.next(from.minusNanos(1)) : from;
	}

	private @Nullable Instant endOfUnit(Instant run) {
		return switch (this.period.kind()) {
			case NONE, FOREVER -> null;
			case TICK -> run.plusNanos(1);
			case ROLLING -> {
				RunUnit unit = this.period.unitAt(run, this.zone, Duration.ZERO);
				Duration within = (unit != null) ? unit.within() : null;
				yield (within != null) ? run.plus(within) : null;
			}
			case HOUR, DAY, WEEK, MONTH, YEAR -> this.period.endOf(run, this.zone);
		};
	}

	private boolean isEverDue() {
		return this.scheduled && this.period.hasUnits();
	}

	/**
	 * The next unit that is due after the one of a recorded success. A run that began
	 * after the end of its unit still counts for its unit.
	 * @param unit the id of the unit that succeeded
	 * @param began when that run began
	 * @return that time, or {@code null} if nothing more is due
	 */
	public @Nullable Instant dueAfter(@Nullable String unit, Instant began) {
		Instant tick = (this.period.kind() == Period.Kind.TICK && unit != null) ? parse(unit) : null;
		if (tick != null) {
			return dueAfter(tick);
		}
		RunUnit own = calendarUnit(began);
		if (own != null && own.begins() != null && !own.id().equals(unit)) {
			Instant before = own.begins().minusNanos(1);
			RunUnit previous = calendarUnit(before);
			if (previous != null && previous.id().equals(unit)) {
				return dueAfter(before);
			}
		}
		return dueAfter(began);
	}

	private @Nullable RunUnit calendarUnit(Instant moment) {
		return this.period.unitAt(moment, this.zone, Duration.ZERO);
	}

	/**
	 * How long after its time an open unit is overdue: half the time to the next firing,
	 * at least {@link #MIN_GRACE} and at most {@link #MAX_GRACE}; for a calendar unit of
	 * a fixed rate, that rate more, since its firing may come that much later.
	 * @param due when the unit was due
	 * @return the grace
	 */
	public Duration grace(Instant due) {
		Duration half = interval(due).dividedBy(2);
		Duration grace = (half.compareTo(MAX_GRACE) < 0) ? half : MAX_GRACE;
		grace = (grace.compareTo(MIN_GRACE) > 0) ? grace : MIN_GRACE;
		boolean late = this.ticks == null && this.rate != null && this.period.kind() != Period.Kind.ROLLING;
		return late ? grace.plus(this.rate) : grace;
	}

	/**
	 * The time between the firings of the schedule around a moment.
	 * @param moment the moment
	 * @return the interval, 1 hour if there is none
	 */
	public Duration interval(Instant moment) {
		if (this.ticks != null) {
			Instant from = this.ticks.previousOrSame(moment);
			Instant to = this.ticks.next(moment);
			return (from != null && to != null) ? Duration.between(from, to) : NO_INTERVAL;
		}
		if (this.rate != null) {
			return this.rate;
		}
		Instant next = dueAfter(moment);
		return (next != null) ? Duration.between(moment, next) : NO_INTERVAL;
	}

	private static @Nullable Instant parse(String unit) {
		try {
			return Instant.parse(unit);
		}
		catch (DateTimeParseException ex) {
			return null;
		}
	}

}
