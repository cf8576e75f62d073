package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.support.CronExpression;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CronTicks}.
 */
class CronTicksTests {

	@ParameterizedTest
	@CsvSource(delimiter = ';', textBlock = """
			*/10 * 9-10 * * *; Europe/Berlin; 2026-03-28T20:00:00Z; 2026-03-29T20:00:00Z
			0 30 2 * * *;      Europe/Berlin; 2026-10-20T00:00:00Z; 2026-10-30T00:00:00Z
			0 30 2 * * *;      Europe/Berlin; 2026-03-25T00:00:00Z; 2026-04-03T00:00:00Z
			0 */20 * * * *;    Europe/Berlin; 2026-10-24T20:00:00Z; 2026-10-25T10:00:00Z
			0 0 0 1 * *;       America/New_York; 2026-01-01T00:00:00Z; 2027-01-01T00:00:00Z
			0 45 1 * * *;      Australia/Lord_Howe; 2026-04-01T00:00:00Z; 2026-04-10T00:00:00Z
			0 15 2 * * *;      Australia/Lord_Howe; 2026-09-30T00:00:00Z; 2026-10-08T00:00:00Z
			0 30 2 * * *;      America/New_York; 2026-03-01T00:00:00Z; 2026-03-15T00:00:00Z
			0 30 1 * * *;      America/New_York; 2026-10-28T00:00:00Z; 2026-11-06T00:00:00Z
			0 0 0 * * *;       America/Sao_Paulo; 2018-10-30T00:00:00Z; 2018-11-08T00:00:00Z
			0 30 0 * * *;      Asia/Tehran; 2021-03-18T00:00:00Z; 2021-03-26T00:00:00Z
			0 30 23 * * *;     Asia/Tehran; 2021-09-18T00:00:00Z; 2021-09-26T00:00:00Z
			""")
	void previousTickIsTheLastOfAllTicks(String cron, ZoneId zone, Instant from, Instant to) {
		CronExpression expression = CronExpression.parse(cron.strip());
		TreeSet<Instant> all = new TreeSet<>();
		ZonedDateTime tick = expression.next(from.atZone(zone));
		while (tick != null && tick.toInstant().isBefore(to)) {
			all.add(tick.toInstant());
			tick = expression.next(tick);
		}
		assertThat(all).isNotEmpty();
		CronTicks ticks = new CronTicks(expression, zone);
		Duration step = Duration.between(from, to).dividedBy(997);
		for (Instant moment = all.first(); moment.isBefore(all.last()); moment = moment.plus(step)) {
			assertThat(ticks.previousOrSame(moment)).isEqualTo(all.floor(moment));
			assertThat(ticks.next(moment)).isEqualTo(all.higher(moment));
		}
		for (Instant exactly : all.headSet(all.last())) {
			assertThat(ticks.previousOrSame(exactly)).isEqualTo(exactly);
		}
	}

	@Test
	void findsTheTickOfALeapDay() {
		CronTicks ticks = new CronTicks(CronExpression.parse("0 0 0 29 2 *"), ZoneId.of("UTC"));
		assertThat(ticks.previousOrSame(Instant.parse("2026-11-30T00:00:00Z"))).isEqualTo("2024-02-29T00:00:00Z");
	}

	@Test
	void scheduleThatNeverFiresHasNoTick() {
		CronTicks ticks = new CronTicks(CronExpression.parse("0 0 0 30 2 *"), ZoneId.of("UTC"));
		assertThat(ticks.previousOrSame(Instant.parse("2026-11-30T00:00:00Z"))).isNull();
		assertThat(ticks.next(Instant.parse("2026-11-30T00:00:00Z"))).isNull();
	}

}
