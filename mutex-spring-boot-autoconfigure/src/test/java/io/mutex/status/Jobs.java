package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

import io.mutex.MutexListener.Run;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import io.mutex.run.Period;
import io.mutex.run.RunRecord;
import io.mutex.run.Ticks;
import io.mutex.run.Timetable;
import org.jspecify.annotations.Nullable;

/**
 * Declarations and ends of calls to test with.
 */
final class Jobs {

	/** 03:00 in Oslo. */
	static final Instant THREE = Instant.parse("2026-11-30T02:00:00Z");

	private Jobs() {
	}

	/** A job that is due at 03:00 each day. */
	static DeclaredRun daily() {
		Ticks ticks = new Ticks() {

			@Override
			public Instant next(Instant moment) {
				return THREE.plus(Duration.ofDays(days(moment) + 1));
			}

			@Override
			public Instant previousOrSame(Instant moment) {
				return THREE.plus(Duration.ofDays(days(moment)));
			}

			private long days(Instant moment) {
				return Math.floorDiv(Duration.between(THREE, moment).toSeconds(), Duration.ofDays(1).toSeconds());
			}

		};
		return declared("daily", new Timetable(Period.TICK, ZoneId.of("Europe/Oslo"), ticks, null, true));
	}

	static DeclaredRun declared(String name, Timetable timetable) {
		return new DeclaredRun("bean", "Jobs." + name + "()", name, true, "policy", timetable, false);
	}

	static Run run(String key, String name, Outcome outcome, @Nullable RunRecord record) {
		return new Run(key, name, "unit", outcome, "a reason", Duration.ofSeconds(41), null, Origin.SCHEDULER, 1,
				record, null, null, null);
	}

}
