package io.mutex.interceptor;

import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;

import io.mutex.MutexException;
import io.mutex.run.Attempts;
import io.mutex.run.Period;
import io.mutex.run.RunUnit;
import io.mutex.run.Tick;
import io.mutex.run.Ticks;
import org.jspecify.annotations.Nullable;

/**
 * Which run of a job a call is.
 *
 * @param unit the unit, or {@code null} for a lock without records
 * @param attempts which attempt of the unit it is
 * @param notBefore the tick that a call has come too early for, or {@code null}
 */
record UnitChoice(@Nullable RunUnit unit, Attempts attempts, @Nullable Instant notBefore) {

	static final UnitChoice NONE = new UnitChoice(null, Attempts.BY_HAND, null);

	static UnitChoice of(SingleRunOperation operation, Call call, Instant now) {
		if (operation.unit() != null) {
			return untimed(operation, named(operation.unit(), call), now);
		}
		Period period = operation.period();
		Ticks ticks = operation.schedule().ticks();
		return switch (period.kind()) {
			case NONE -> NONE;
			case FOREVER, ROLLING -> untimed(operation, unitAt(operation, now), now);
			case TICK, HOUR, DAY, WEEK, MONTH, YEAR ->
				(ticks != null) ? scheduled(operation, ticks, SchedulerCalls.isCurrent(), now)
						: untimed(operation, unitAt(operation, now), now);
		};
	}

	private static RunUnit named(Template template, Call call) {
		try {
			return RunUnit.of(template.evaluate(call));
		}
		catch (IllegalArgumentException ex) {
			throw new MutexException(null, ex.getMessage() + "; the method has not run", ex);
		}
	}

	private static @Nullable RunUnit unitAt(SingleRunOperation operation, Instant now) {
		return operation.period().unitAt(now, operation.zone(), Tick.MAX_TOLERANCE);
	}

	// The unit does not follow from the tick, but the attempts may.
	private static UnitChoice untimed(SingleRunOperation operation, @Nullable RunUnit unit, Instant now) {
		Ticks ticks = operation.schedule().ticks();
		boolean byScheduler = (ticks != null || operation.repeats().any()) && SchedulerCalls.isCurrent();
		Tick tick = (ticks != null) ? tick(ticks, byScheduler, now) : null;
		if (ticks != null && tick != null) {
			return new UnitChoice(unit, attempts(operation, ticks, tick, byScheduler), null);
		}
		Attempts attempts = byScheduler ? Attempts.scheduled(Instant.MAX) : Attempts.BY_HAND;
		return new UnitChoice(unit, operation.repeats().applyTo(attempts, null), null);
	}

	static UnitChoice scheduled(SingleRunOperation operation, Ticks ticks, boolean byScheduler, Instant now) {
		Tick tick = tick(ticks, byScheduler, now);
		if (tick == null) {
			throw new MutexException(null, "the schedule of " + operation.declaration() + " has not fired yet");
		}
		RunUnit unit = byScheduler ? unitOf(operation, tick) : unitByHand(operation, ticks, tick, now);
		return new UnitChoice(unit, attempts(operation, ticks, tick, byScheduler),
				tick.at().isAfter(now) ? tick.at() : null);
	}

	// Where the clocks skip the only tick of a calendar unit, a call by hand is what can
	// still run it.
	private static @Nullable RunUnit unitByHand(SingleRunOperation operation, Ticks ticks, Tick tick, Instant now) {
		RunUnit ofTick = unitOf(operation, tick);
		RunUnit current = isPerTick(operation) ? null : unitAt(operation, now);
		if (current == null || current.begins() == null || current.equals(ofTick)) {
			return ofTick;
		}
		Instant before = current.begins().minusNanos(1);
		ZoneOffsetTransition change = operation.zone().getRules().nextTransition(before);
		boolean skips = change != null && change.isGap() && current.equals(unitAt(operation, change.getInstant()));
		Instant first = ticks.next(before);
		return (skips && (first == null || !current.equals(unitAt(operation, first)))) ? current : ofTick;
	}

	private static @Nullable Tick tick(Ticks ticks, boolean byScheduler, Instant now) {
		return byScheduler ? Tick.nearest(ticks, now) : Tick.latest(ticks, now);
	}

	/**
	 * The unit of a tick.
	 * @param operation the job, whose period is that of its ticks or of the calendar
	 * @param tick the tick
	 * @return the unit
	 */
	static @Nullable RunUnit unitOf(SingleRunOperation operation, Tick tick) {
		return operation.period()
			.unitAt(tick.at(), operation.zone(), isPerTick(operation) ? tick.tolerance() : Tick.MAX_TOLERANCE);
	}

	/**
	 * The attempts of a call that belongs to a tick. A unit of several ticks has a first
	 * attempt at each of them, and the retries of one end where calls may mean the next.
	 * @param operation the job
	 * @param ticks its schedule
	 * @param tick the tick
	 * @param byScheduler whether the scheduler calls
	 * @return the attempts
	 */
	static Attempts attempts(SingleRunOperation operation, Ticks ticks, Tick tick, boolean byScheduler) {
		boolean perTick = isPerTick(operation);
		Instant next = operation.repeats().any() ? ticks.next(tick.at()) : null;
		Instant until = (next != null && !perTick) ? next.minus(tick.tolerance()) : next;
		Attempts attempts = !byScheduler ? Attempts.BY_HAND
				: perTick ? Attempts.SCHEDULED : Attempts.scheduled(tick.at().minus(tick.tolerance()));
		return operation.repeats().applyTo(attempts, until);
	}

	private static boolean isPerTick(SingleRunOperation operation) {
		return operation.period().kind() == Period.Kind.TICK;
	}

}
