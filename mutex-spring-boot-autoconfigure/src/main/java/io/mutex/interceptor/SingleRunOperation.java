package io.mutex.interceptor;

import java.time.Duration;
import java.time.ZoneId;

import io.mutex.annotation.OnHeld;
import io.mutex.run.Period;
import io.mutex.run.Timetable;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.Expression;

/**
 * What a {@link io.mutex.annotation.SingleRun} resolves to.
 *
 * @param declaration the method
 * @param key the key
 * @param unit the template that names the unit, or {@code null} if the period does
 * @param period what "once" means
 * @param zone the zone of calendar periods
 * @param schedule the schedule of the method
 * @param waitFor how long to wait for a held key
 * @param onHeld what to do when it is held
 * @param skipInDoubt whether a unit in doubt is reported instead of run again
 * @param unless the condition under which the result is there already, or {@code null}
 * @param lease the length of the lease
 * @param maxHold the longest hold, or {@code null} for no limit
 * @param repeats what the starter runs by itself
 */
record SingleRunOperation(Declaration declaration, Template key, @Nullable Template unit, Period period, ZoneId zone,
		Schedule schedule, Duration waitFor, OnHeld onHeld, boolean skipInDoubt, @Nullable Expression unless,
		Duration lease, @Nullable Duration maxHold, Repeats repeats) {

	/**
	 * Whether successes are recorded.
	 * @return {@code false} if the method only must not run twice at once
	 */
	boolean hasUnits() {
		return this.unit != null || this.period.hasUnits();
	}

	/**
	 * Whether a call may find nothing to do.
	 * @return {@code false} if every call runs the method or throws
	 */
	boolean canSkip() {
		return hasUnits() || this.onHeld == OnHeld.SKIP;
	}

	/**
	 * What two methods with one key have to agree on.
	 * @return the policy, for people
	 */
	String policy() {
		return once() + ", lease " + this.lease + ((this.maxHold != null) ? ", held at most " + this.maxHold : "")
				+ (this.skipInDoubt ? ", not again when in doubt" : "") + this.repeats;
	}

	SingleRunOperation with(Repeats repeated) {
		return new SingleRunOperation(this.declaration, this.key, this.unit, this.period, this.zone, this.schedule,
				this.waitFor, this.onHeld, this.skipInDoubt, this.unless, this.lease, this.maxHold, repeated);
	}

	/**
	 * The declaration for people.
	 * @param records whether successes are recorded at all
	 * @return the declaration
	 */
	DeclaredRun toDeclaredRun(boolean records) {
		Timetable timetable = new Timetable(records ? this.period : Period.NONE, this.zone, this.schedule.ticks(),
				this.schedule.rate(), this.schedule.isActive());
		return new DeclaredRun(this.declaration.beanName(), this.declaration.toString(), this.key.text(),
				this.key.isConstant(), policy(), timetable, this.declaration.needsArguments());
	}

	private String once() {
		if (this.unit != null) {
			return "once for each unit '" + this.unit.text() + "'";
		}
		return switch (this.period.kind()) {
			case NONE -> "never two at once, without records";
			case FOREVER -> "once for ever";
			case ROLLING -> "once within " + this.period;
			case TICK -> "once per tick of " + this.schedule.ticks();
			case HOUR, DAY, WEEK, MONTH, YEAR -> "once per " + this.period + " in " + this.zone;
		};
	}

}
