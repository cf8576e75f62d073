package io.mutex.interceptor;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.mutex.run.Period;
import io.mutex.run.Ticks;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.support.CronExpression;

/**
 * What the <code>@Scheduled</code> annotations of a method say. Several are one schedule:
 * as soon as one of them has a cron expression, the ticks are those of all cron
 * expressions, and the rates count for nothing.
 *
 * @param ticks the ticks of the cron expressions, or {@code null} if there are none
 * @param rate the shortest fixed rate, or {@code null} if there is none
 * @param zone the first zone that is declared, or {@code null}
 * @param declared whether there is an annotation at all
 * @param disabled whether all cron expressions are switched off by {@code -}
 * @param scheduler the first scheduler that is named, or empty
 */
record Schedule(@Nullable Ticks ticks, @Nullable Duration rate, @Nullable ZoneId zone, boolean declared,
		boolean disabled, String scheduler) {

	static Schedule of(MethodExpressions method) {
		Set<Scheduled> annotations = AnnotatedElementUtils.getMergedRepeatableAnnotations(method.declaration().method(),
				Scheduled.class, Schedules.class);
		List<Ticks> ticks = new ArrayList<>();
		Duration rate = null;
		ZoneId zone = null;
		boolean disabled = false;
		String scheduler = "";
		for (Scheduled annotation : annotations) {
			ZoneId declaredZone = zone(method, annotation);
			zone = (zone != null) ? zone : declaredZone;
			String cron = method.resolve("cron of @Scheduled", annotation.cron()).strip();
			if (Scheduled.CRON_DISABLED.equals(cron)) {
				disabled = true;
			}
			else if (!cron.isEmpty()) {
				ticks.add(ticks(method, cron, (declaredZone != null) ? declaredZone : ZoneId.systemDefault()));
			}
			scheduler = scheduler.isEmpty() ? method.resolve("scheduler of @Scheduled", annotation.scheduler()).strip()
					: scheduler;
			Duration declaredRate = rate(method, annotation);
			if (declaredRate != null && (rate == null || declaredRate.compareTo(rate) < 0)) {
				rate = declaredRate;
			}
		}
		return new Schedule(ticks.isEmpty() ? null : Ticks.union(ticks), rate, zone, !annotations.isEmpty(),
				disabled && ticks.isEmpty(), scheduler);
	}

	/**
	 * Whether the schedule calls the method at all.
	 * @return {@code false} without a schedule, or if all of it is switched off
	 */
	boolean isActive() {
		return this.declared && (!this.disabled || this.rate != null);
	}

	/**
	 * What "once" means for a method that does not say so.
	 * @return the period
	 */
	Period period() {
		if (this.ticks != null) {
			return Period.TICK;
		}
		return (this.rate != null && this.rate.toMillis() > 0) ? Period.rolling(this.rate) : Period.NONE;
	}

	private static Ticks ticks(MethodExpressions method, String cron, ZoneId zone) {
		try {
			Ticks ticks = new CronTicks(CronExpression.parse(cron), zone);
			if (ticks.next(Instant.EPOCH) == null) {
				throw method.declaration()
					.refuse("its schedule '" + cron + "' never fires", "Correct the cron expression");
			}
			return ticks;
		}
		catch (IllegalArgumentException ex) {
			throw method.declaration()
				.refuse("its schedule '" + cron + "' is no cron expression",
						"Write six fields, from seconds to the day of the week", ex);
		}
	}

	private static @Nullable ZoneId zone(MethodExpressions method, Scheduled annotation) {
		String zone = method.resolve("zone of @Scheduled", annotation.zone()).strip();
		try {
			return zone.isEmpty() ? null : ZoneId.of(zone);
		}
		catch (DateTimeException ex) {
			throw method.declaration()
				.refuse("its schedule has an unknown zone '" + zone + "'", "Write a zone such as Europe/Oslo, or UTC",
						ex);
		}
	}

	private static @Nullable Duration rate(MethodExpressions method, Scheduled annotation) {
		if (annotation.fixedRate() >= 0) {
			return Duration.of(annotation.fixedRate(), annotation.timeUnit().toChronoUnit());
		}
		String rate = method.resolve("fixedRateString of @Scheduled", annotation.fixedRateString()).strip();
		try {
			return rate.isEmpty() ? null : DurationFormatterUtils.detectAndParse(rate,
					DurationFormat.Unit.fromChronoUnit(annotation.timeUnit().toChronoUnit()));
		}
		catch (IllegalArgumentException ex) {
			throw method.declaration()
				.refuse("its schedule has a fixed rate '" + rate + "' that is no duration",
						"Write a duration such as 30s", ex);
		}
	}

}
