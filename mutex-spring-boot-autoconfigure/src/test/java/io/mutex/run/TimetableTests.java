package io.mutex.run;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Timetable}.
 */
class TimetableTests {

	private static final ZoneId OSLO = ZoneId.of("Europe/Oslo");

	/** 03:00 in Oslo, in winter. */
	private static final Instant THREE = Instant.parse("2026-11-30T02:00:00Z");

	private static final Duration DAY = Duration.ofDays(1);

	private static Timetable daily(String per) {
		return new Timetable(Period.parse(per), OSLO, new Every(THREE, DAY), null, true);
	}

	private static Timetable rate(String per, Duration rate) {
		return new Timetable(Period.parse(per), OSLO, null, rate, true);
	}

	@Test
	void unitOfATickIsDueAtTheNextTick() {
		Timetable timetable = daily("tick");
		assertThat(timetable.unitAt(THREE.minusSeconds(1))).isNotNull()
			.satisfies((unit) -> assertThat(unit.id()).isEqualTo("2026-11-29T02:00:00Z"));
		assertThat(timetable.firstDue(THREE.minusSeconds(1))).isEqualTo(THREE);
		assertThat(timetable.dueAfter("2026-11-30T02:00:00Z", THREE.plusSeconds(90))).isEqualTo(THREE.plus(DAY));
		assertThat(timetable.nextTick(THREE)).isEqualTo(THREE.plus(DAY));
	}

	@Test
	void runThatBeganBeforeItsTickByTheClockOfTheStoreStillCountsForIt() {
		assertThat(daily("tick").dueAfter("2026-11-30T02:00:00Z", THREE.minusSeconds(20))).isEqualTo(THREE.plus(DAY));
	}

	@Test
	void calendarUnitIsDueAtItsFirstTick() {
		Timetable monthly = daily("month");
		assertThat(monthly.dueAfter("2026-11", THREE)).isEqualTo(Instant.parse("2026-12-01T02:00:00Z"));
		assertThat(monthly.dueAfter("2026-12", THREE.plus(DAY))).isEqualTo(Instant.parse("2027-01-01T02:00:00Z"));
	}

	@Test
	void runThatBeganAfterTheEndOfItsUnitLeavesTheNextUnitDue() {
		Instant afterMidnight = Instant.parse("2026-11-30T23:00:05Z");
		assertThat(daily("day").dueAfter("2026-11-30", afterMidnight)).isEqualTo(THREE.plus(DAY));
		assertThat(daily("day").dueAfter("2026-12-01", afterMidnight)).isEqualTo(THREE.plus(DAY).plus(DAY));
	}

	@Test
	void rollingPeriodIsDueWhenItHasPassed() {
		assertThat(rate("10m", Duration.ofMinutes(10)).dueAfter("~", THREE)).isEqualTo(THREE.plusSeconds(599));
		assertThat(daily("10m").dueAfter("~", THREE)).isEqualTo(THREE.plus(DAY));
	}

	@Test
	void whatIsNotScheduledOrNotRecordedIsNeverDue() {
		Timetable unscheduled = new Timetable(Period.parse("day"), OSLO, null, null, false);
		assertThat(unscheduled.firstDue(THREE)).isNull();
		assertThat(unscheduled.dueAfter("2026-11-30", THREE)).isNull();
		assertThat(unscheduled.unitAt(THREE)).isNotNull();
		assertThat(daily("none").firstDue(THREE)).isNull();
		assertThat(daily("none").unitAt(THREE)).isNull();
	}

	@Test
	void unitForEverIsDueOnce() {
		assertThat(daily("forever").firstDue(THREE.minusSeconds(1))).isEqualTo(THREE);
		assertThat(rate("forever", DAY).firstDue(THREE)).isEqualTo(THREE);
		assertThat(daily("forever").dueAfter("forever", THREE)).isNull();
	}

	@Test
	void graceIsHalfTheIntervalWithinItsLimits() {
		assertThat(daily("tick").grace(THREE)).isEqualTo(Timetable.MAX_GRACE);
		assertThat(rate("10m", Duration.ofMinutes(10)).grace(THREE)).isEqualTo(Duration.ofMinutes(5));
		assertThat(new Timetable(Period.TICK, OSLO, new Every(THREE, Duration.ofSeconds(1)), null, true).grace(THREE))
			.isEqualTo(Timetable.MIN_GRACE);
	}

	@Test
	void calendarUnitOfARateHasTheRateMore() {
		assertThat(rate("day", Duration.ofHours(6)).grace(THREE)).isEqualTo(Duration.ofHours(7));
	}

	@Test
	void calendarUnitsEndWhereTheNextBegin() {
		for (String per : new String[] { "hour", "day", "week", "month", "year" }) {
			Period period = Period.parse(per);
			// over both changes of the clocks of a year
			for (Instant moment = Instant.parse("2026-01-01T00:20:00Z"); moment
				.isBefore(Instant.parse("2027-01-03T00:00:00Z")); moment = moment.plus(Duration.ofMinutes(97))) {
				Instant end = period.endOf(moment, OSLO);
				assertThat(end).isNotNull().isAfter(moment);
				assertThat(id(period, end.minusNanos(1))).isEqualTo(id(period, moment));
				assertThat(id(period, end)).isNotEqualTo(id(period, moment));
			}
		}
	}

	@Test
	void otherPeriodsHaveNoEnd() {
		assertThat(Period.TICK.endOf(THREE, OSLO)).isNull();
		assertThat(Period.parse("forever").endOf(THREE, OSLO)).isNull();
		assertThat(Period.parse("10m").endOf(THREE, OSLO)).isNull();
	}

	private static String id(Period period, Instant moment) {
		RunUnit unit = period.unitAt(moment, OSLO, Duration.ZERO);
		assertThat(unit).isNotNull();
		return unit.id();
	}

	/** Ticks at equal intervals. */
	private record Every(Instant origin, Duration interval) implements Ticks {

		@Override
		public Instant next(Instant moment) {
			return at(floor(moment) + 1);
		}

		@Override
		public @Nullable Instant previousOrSame(Instant moment) {
			return at(floor(moment));
		}

		private long floor(Instant moment) {
			return Math.floorDiv(Duration.between(this.origin, moment).toNanos(), this.interval.toNanos());
		}

		private Instant at(long number) {
			return this.origin.plus(this.interval.multipliedBy(number));
		}

	}

}
