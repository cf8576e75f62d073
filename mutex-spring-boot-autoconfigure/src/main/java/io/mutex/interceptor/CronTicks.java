package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;

import io.mutex.run.Ticks;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.support.CronExpression;

/**
 * The ticks of a cron expression. It can only be asked for the next tick; the previous
 * one is found in a window that doubles until it holds a tick, and is then halved.
 */
final class CronTicks implements Ticks {

	/** The calendar repeats after 400 years, and cron knows no years. */
	private static final Duration LONGEST_WINDOW = Duration.ofDays(146_097);

	private final CronExpression expression;

	private final ZoneId zone;

	private volatile @Nullable Span last;

	CronTicks(CronExpression expression, ZoneId zone) {
		this.expression = expression;
		this.zone = zone;
	}

	@Override
	public @Nullable Instant next(Instant moment) {
		Span span = this.last;
		if (span != null && span.contains(moment)) {
			return span.to();
		}
		ZonedDateTime next = this.expression.next(moment.atZone(this.zone));
		return (next != null) ? next.toInstant() : null;
	}

	@Override
	public @Nullable Instant previousOrSame(Instant moment) {
		Span span = this.last;
		if (span != null && span.contains(moment)) {
			return span.from();
		}
		Duration window = Duration.ofSeconds(1);
		while (window.compareTo(LONGEST_WINDOW) <= 0) {
			Instant tick = next(moment.minus(window));
			if (tick != null && !tick.isAfter(moment)) {
				return lastFrom(tick, moment);
			}
			window = window.multipliedBy(2);
		}
		return null;
	}

	private Instant lastFrom(Instant known, Instant moment) {
		Instant tick = known;
		Instant none = moment;
		while (true) {
			Instant next = next(tick);
			if (next == null || next.isAfter(moment)) {
				if (next != null) {
					this.last = new Span(tick, next);
				}
				return tick;
			}
			Instant middle = next.plus(Duration.between(next, none).dividedBy(2));
			Instant later = next(middle);
			if (later != null && !later.isAfter(moment)) {
				tick = later;
			}
			else {
				tick = next;
				none = middle;
			}
		}
	}

	@Override
	public String toString() {
		return "cron '" + this.expression + "' in " + this.zone;
	}

	/** From a tick to the next one. */
	private record Span(Instant from, Instant to) {

		boolean contains(Instant moment) {
			return !moment.isBefore(this.from) && moment.isBefore(this.to);
		}

	}

}
