package io.mutex.run;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;

/**
 * Tests for {@link Period}.
 */
class PeriodTests {

	@ParameterizedTest
	@DisplayName("C45 week, day, month and year ids follow ISO 8601 in every locale")
	@ValueSource(strings = { "en-US", "de-DE", "ar-EG-u-nu-arab", "th-TH-u-ca-buddhist-nu-thai", "fa-IR", "tr-TR" })
	void idsDoNotDependOnTheLocale(String language) {
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag(language));
		try {
			assertThat(ids("2025-12-28T12:00:00Z")).containsExactly("2025-W52", "2025-12-28", "2025-12", "2025");
			assertThat(ids("2025-12-29T12:00:00Z")).containsExactly("2026-W01", "2025-12-29", "2025-12", "2025");
			assertThat(ids("2026-01-01T12:00:00Z")).containsExactly("2026-W01", "2026-01-01", "2026-01", "2026");
			assertThat(ids("2027-01-01T12:00:00Z")).containsExactly("2026-W53", "2027-01-01", "2027-01", "2027");
			assertThat(ids("2026-11-29T12:00:00Z")).containsExactly("2026-W48", "2026-11-29", "2026-11", "2026");
		}
		finally {
			Locale.setDefault(before);
		}
	}

	private static String[] ids(String moment) {
		return new String[] { id("week", moment, "UTC"), id("day", moment, "UTC"), id("month", moment, "UTC"),
				id("year", moment, "UTC") };
	}

	@Test
	@DisplayName("C45 no two weeks of forty years share an id, and each begins on a Monday")
	void weeksAreUnique() {
		Map<String, Instant> begins = new LinkedHashMap<>();
		for (Instant day = Instant.parse("2000-01-01T12:00:00Z"); day
			.isBefore(Instant.parse("2040-01-01T00:00:00Z")); day = day.plus(Duration.ofDays(1))) {
			RunUnit week = unit("week", day, "UTC");
			Instant known = begins.putIfAbsent(week.id(), week.begins());
			assertThat(week.begins()).isEqualTo((known != null) ? known : week.begins());
		}
		assertThat(begins.values()).doesNotHaveDuplicates()
			.allMatch((begin) -> begin.atZone(ZoneId.of("UTC")).getDayOfWeek().getValue() == 1);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			# the repeated hour is two units, each named by its offset
			Europe/Berlin,       2026-10-25T00:30:00Z, 2026-10-25T02+02:00, 2026-10-25T00:00:00Z
			Europe/Berlin,       2026-10-25T00:59:59Z, 2026-10-25T02+02:00, 2026-10-25T00:00:00Z
			Europe/Berlin,       2026-10-25T01:00:00Z, 2026-10-25T02+01:00, 2026-10-25T01:00:00Z
			Europe/Berlin,       2026-10-25T01:30:00Z, 2026-10-25T02+01:00, 2026-10-25T01:00:00Z
			America/New_York,    2026-11-01T05:30:00Z, 2026-11-01T01-04:00, 2026-11-01T05:00:00Z
			America/New_York,    2026-11-01T06:30:00Z, 2026-11-01T01-05:00, 2026-11-01T06:00:00Z
			# the missing hour is none
			Europe/Berlin,       2026-03-29T00:59:59Z, 2026-03-29T01+01:00, 2026-03-29T00:00:00Z
			Europe/Berlin,       2026-03-29T01:00:00Z, 2026-03-29T03+02:00, 2026-03-29T01:00:00Z
			America/New_York,    2026-03-08T06:59:59Z, 2026-03-08T01-05:00, 2026-03-08T06:00:00Z
			America/New_York,    2026-03-08T07:00:00Z, 2026-03-08T03-04:00, 2026-03-08T07:00:00Z
			# the hour before midnight comes twice
			Asia/Tehran,         2021-09-21T19:00:00Z, 2021-09-21T23+04:30, 2021-09-21T18:30:00Z
			Asia/Tehran,         2021-09-21T20:00:00Z, 2021-09-21T23+03:30, 2021-09-21T19:30:00Z
			# the hour after midnight is missing
			Asia/Tehran,         2021-03-21T20:29:59Z, 2021-03-21T23+03:30, 2021-03-21T19:30:00Z
			Asia/Tehran,         2021-03-21T20:30:00Z, 2021-03-22T01+04:30, 2021-03-21T20:30:00Z
			# the clocks of Lord Howe change by half an hour
			Australia/Lord_Howe, 2026-04-04T14:45:00Z, 2026-04-05T01+11:00, 2026-04-04T14:00:00Z
			Australia/Lord_Howe, 2026-04-04T15:10:00Z, 2026-04-05T01+10:30, 2026-04-04T15:00:00Z
			Australia/Lord_Howe, 2026-04-04T15:40:00Z, 2026-04-05T02+10:30, 2026-04-04T15:30:00Z
			Australia/Lord_Howe, 2026-10-03T15:45:00Z, 2026-10-04T02+11:00, 2026-10-03T15:30:00Z
			# zones whose hours do not begin with those of UTC
			Asia/Kolkata,        2026-06-01T00:29:59Z, 2026-06-01T05+05:30, 2026-05-31T23:30:00Z
			Asia/Kathmandu,      2026-06-01T00:14:59Z, 2026-06-01T05+05:45, 2026-05-31T23:15:00Z
			UTC,                 2026-06-01T00:14:59Z, 2026-06-01T00Z,      2026-06-01T00:00:00Z
			""")
	void hoursCarryTheirOffset(String zone, String moment, String id, Instant begins) {
		assertThat(unit("hour", Instant.parse(moment), zone)).isEqualTo(RunUnit.beginning(id, begins, Duration.ZERO));
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			Europe/Berlin,       2026-10-25T22:59:59Z, 2026-10-25, 2026-10-24T22:00:00Z
			Europe/Berlin,       2026-03-28T23:00:00Z, 2026-03-29, 2026-03-28T23:00:00Z
			America/New_York,    2026-03-08T04:59:59Z, 2026-03-07, 2026-03-07T05:00:00Z
			America/New_York,    2026-03-09T03:59:59Z, 2026-03-08, 2026-03-08T05:00:00Z
			America/New_York,    2026-11-02T04:59:59Z, 2026-11-01, 2026-11-01T04:00:00Z
			Australia/Lord_Howe, 2026-04-05T13:29:59Z, 2026-04-05, 2026-04-04T13:00:00Z
			Australia/Lord_Howe, 2026-10-04T12:59:59Z, 2026-10-04, 2026-10-03T13:30:00Z
			# days without a midnight
			America/Sao_Paulo,   2018-11-04T03:00:00Z, 2018-11-04, 2018-11-04T03:00:00Z
			America/Sao_Paulo,   2018-11-04T02:59:59Z, 2018-11-03, 2018-11-03T03:00:00Z
			Asia/Beirut,         2021-03-28T10:00:00Z, 2021-03-28, 2021-03-27T22:00:00Z
			Asia/Tehran,         2021-03-22T10:00:00Z, 2021-03-22, 2021-03-21T20:30:00Z
			Africa/Cairo,        2026-04-24T10:00:00Z, 2026-04-24, 2026-04-23T22:00:00Z
			# a day whose midnight comes twice
			America/Havana,      2026-11-01T05:30:00Z, 2026-11-01, 2026-11-01T04:00:00Z
			# a day whose last hour comes twice
			Africa/Cairo,        2026-10-29T21:30:00Z, 2026-10-29, 2026-10-28T21:00:00Z
			Asia/Tehran,         2021-09-21T20:00:00Z, 2021-09-21, 2021-09-20T19:30:00Z
			Asia/Tehran,         2021-09-21T20:30:00Z, 2021-09-22, 2021-09-21T20:30:00Z
			America/Sao_Paulo,   2018-02-18T02:30:00Z, 2018-02-17, 2018-02-17T02:00:00Z
			Asia/Beirut,         2021-10-30T21:30:00Z, 2021-10-30, 2021-10-29T21:00:00Z
			""")
	void daysBeginWithTheirFirstMoment(String zone, String moment, String id, Instant begins) {
		assertThat(unit("day", Instant.parse(moment), zone)).isEqualTo(RunUnit.beginning(id, begins, Duration.ZERO));
	}

	@Test
	void weekMonthAndYearBeginInTheZone() {
		Instant moment = Instant.parse("2026-11-26T10:00:00Z");
		assertThat(unit("week", moment, "Asia/Seoul").begins()).isEqualTo("2026-11-22T15:00:00Z");
		assertThat(unit("month", moment, "Asia/Seoul").begins()).isEqualTo("2026-10-31T15:00:00Z");
		assertThat(unit("year", moment, "Asia/Seoul").begins()).isEqualTo("2025-12-31T15:00:00Z");
	}

	@ParameterizedTest
	@ValueSource(strings = { "hour", "day", "week", "month", "year" })
	void everyMomentLiesInTheUnitThatHasBegun(String period) {
		for (String zone : new String[] { "Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu",
				"America/New_York", "America/Havana", "Asia/Beirut" }) {
			Instant moment = Instant.parse("2026-01-01T00:07:00Z");
			while (moment.isBefore(Instant.parse("2027-01-02T00:00:00Z"))) {
				RunUnit unit = unit(period, moment, zone);
				Instant begins = Objects.requireNonNull(unit.begins());
				if (begins.isAfter(moment) || !unit(period, begins, zone).equals(unit)
						|| unit(period, begins.minusNanos(1), zone).equals(unit)) {
					fail("%s in %s at %s is not within %s", period, zone, moment, unit);
				}
				moment = moment.plus(Duration.ofMinutes(29));
			}
		}
	}

	@Test
	void tickIsNamedByItsInstant() {
		Instant tick = Instant.parse("2026-11-29T00:00:00Z");
		assertThat(Period.TICK.unitAt(tick, ZoneId.of("Asia/Seoul"), Duration.ofSeconds(30)))
			.isEqualTo(RunUnit.beginning("2026-11-29T00:00:00Z", tick, Duration.ofSeconds(30)));
	}

	@ParameterizedTest
	@CsvSource({ "10m, PT9M59S", "20s, PT19S", "10s, PT9.5S", "100ms, PT0.095S", "1ms, PT0.00095S", "PT1H, PT59M59S" })
	void rollingPeriodAllowsForLateTimers(String text, Duration within) {
		assertThat(unit(text, Instant.EPOCH, "UTC")).isEqualTo(RunUnit.rolling(within));
	}

	@Test
	void foreverHasOneUnitAndNoneHasNone() {
		assertThat(unit("forever", Instant.now(), "UTC")).isEqualTo(RunUnit.of("forever"));
		assertThat(Period.parse("none").unitAt(Instant.now(), ZoneId.of("UTC"), Duration.ZERO)).isNull();
		assertThat(Period.parse("none").hasUnits()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "DAY", "days", "rolling", "0", "0s", "-5m", "500us", "5", " day" })
	void refusesAnythingElse(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Period.parse(text))
			.withMessageContaining("'" + text + "' is not a period")
			.withMessageContaining("forever");
	}

	private static String id(String period, String moment, String zone) {
		return unit(period, Instant.parse(moment), zone).id();
	}

	private static RunUnit unit(String period, Instant moment, String zone) {
		RunUnit unit = Period.parse(period).unitAt(moment, ZoneId.of(zone), Duration.ZERO);
		return Objects.requireNonNull(unit);
	}

}
