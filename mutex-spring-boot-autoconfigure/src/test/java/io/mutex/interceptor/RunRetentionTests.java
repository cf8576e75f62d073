package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;

import io.mutex.annotation.SingleRun;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunRetention}.
 */
class RunRetentionTests {

	private static final Duration DAYS = Duration.ofDays(10);

	@ParameterizedTest
	@CsvSource({ "day, 2026-03-10T00:00:00Z, 2026-03-21T00:00:00Z", "hour, 2026-03-10T11:00:00Z, 2026-03-20T12:00:00Z",
			"week, 2026-03-09T00:00:00Z, 2026-03-26T00:00:00Z", "month, 2026-03-01T00:00:00Z, 2026-05-01T00:00:00Z",
			"year, 2026-01-01T00:00:00Z, 2028-01-01T00:00:00Z" })
	void unitIsKeptAfterItsEndAndUntilTheNextOneHasEnded(String per, Instant begins, Instant until) {
		RunUnit kept = keep(per, Instant.parse("2026-03-10T11:30:00Z"));
		assertThat(kept.begins()).isEqualTo(begins);
		assertThat(kept.keptFor()).isEqualTo(DAYS);
		assertThat(kept.keptUntil()).isEqualTo(until);
	}

	@Test
	void unitOfATickIsKeptAfterTheNextTickAndUntilTheOneAfter() {
		RunUnit daily = keep("daily", Instant.parse("2026-03-10T11:30:00Z"));
		assertThat(daily.id()).isEqualTo("2026-03-10T03:00:00Z");
		assertThat(daily.keptUntil()).isEqualTo("2026-03-21T03:00:00Z");
		RunUnit monthly = keep("monthly", Instant.parse("2026-03-10T11:30:00Z"));
		assertThat(monthly.id()).isEqualTo("2026-03-01T03:00:00Z");
		assertThat(monthly.keptUntil()).isEqualTo("2026-05-01T03:00:00Z");
	}

	@Test
	void rollingUnitIsKeptAfterItsLength() {
		RunUnit kept = keep("rolling", Instant.parse("2026-03-10T11:30:00Z"));
		assertThat(kept.keptFor()).isEqualTo(DAYS.plus(kept.within()));
		assertThat(kept.keptUntil()).isNull();
	}

	@Test
	void foreverIsForEverAndANamedUnitAsConfigured() {
		Instant now = Instant.parse("2026-03-10T11:30:00Z");
		assertThat(keep("forever", now).keptFor()).isNull();
		assertThat(keep("named", now).keptFor()).isNull();
		assertThat(keep("named", now, new RunRetention(DAYS, Duration.ofDays(3))).keptFor())
			.isEqualTo(Duration.ofDays(3));
		assertThat(keep("forever", now, new RunRetention(DAYS, Duration.ofDays(3))).keptFor()).isNull();
	}

	private static RunUnit keep(String method, Instant now) {
		return keep(method, now, new RunRetention(DAYS, null));
	}

	// what the engine is asked for by a call by hand
	private static RunUnit keep(String method, Instant now, RunRetention retention) {
		InterceptorSettings standard = InterceptorSettings.defaults();
		InterceptorSettings settings = new InterceptorSettings(ZoneOffset.UTC, true, false, standard.singleRunLease(),
				null, standard.fencedWaitFor(), standard.fencedLease(), null, retention);
		try (MutexContext context = MutexContext.create()
			.settings(settings)
			.tickWait(new TickWait(InstantSource.fixed(now), (time) -> {
			}))
			.start(Jobs.class)) {
			Jobs jobs = context.bean(Jobs.class);
			switch (method) {
				case "day" -> jobs.day();
				case "hour" -> jobs.hour();
				case "week" -> jobs.week();
				case "month" -> jobs.month();
				case "year" -> jobs.year();
				case "daily" -> jobs.daily();
				case "monthly" -> jobs.monthly();
				case "rolling" -> jobs.rolling();
				case "forever" -> jobs.forever();
				default -> jobs.named("2026-03-09");
			}
			RunUnit unit = context.lastRequest().unit();
			assertThat(unit).isNotNull();
			return unit;
		}
	}

	static class Jobs {

		@SingleRun(key = "day", per = "day")
		void day() {
		}

		@SingleRun(key = "hour", per = "hour")
		void hour() {
		}

		@SingleRun(key = "week", per = "week")
		void week() {
		}

		@SingleRun(key = "month", per = "month")
		void month() {
		}

		@SingleRun(key = "year", per = "year")
		void year() {
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		@SingleRun(key = "daily")
		void daily() {
		}

		@Scheduled(cron = "0 0 3 1 * *", zone = "UTC")
		@SingleRun(key = "monthly")
		void monthly() {
		}

		@SingleRun(key = "rolling", per = "2d")
		void rolling() {
		}

		@SingleRun(key = "forever", per = "forever")
		void forever() {
		}

		@SingleRun(key = "named", unit = "#{#date}")
		void named(String date) {
		}

	}

}
