package io.mutex.run;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Tick} and {@link Ticks}.
 */
class TickTests {

	private static final Instant MIDNIGHT = Instant.parse("2026-11-30T00:00:00Z");

	private static final Ticks DAILY = new Regular(MIDNIGHT, Duration.ofDays(1));

	private static final Ticks EACH_SECOND = new Regular(MIDNIGHT, Duration.ofSeconds(1));

	@Test
	@DisplayName("C43 a timer that fires a moment early belongs to the tick ahead")
	void schedulerCallBelongsToTheNearestTick() {
		assertThat(Tick.nearest(DAILY, MIDNIGHT.minusMillis(2))).isEqualTo(new Tick(MIDNIGHT, Duration.ofMinutes(1)));
		assertThat(at(Tick.nearest(DAILY, MIDNIGHT.minusSeconds(60)))).isEqualTo(MIDNIGHT);
		assertThat(at(Tick.nearest(DAILY, MIDNIGHT.minusMillis(60_001)))).isEqualTo(MIDNIGHT.minus(Duration.ofDays(1)));
		assertThat(at(Tick.nearest(DAILY, MIDNIGHT))).isEqualTo(MIDNIGHT);
		assertThat(at(Tick.nearest(DAILY, MIDNIGHT.plus(Duration.ofHours(23))))).isEqualTo(MIDNIGHT);
	}

	@Test
	void shortIntervalIsSplitInTheMiddle() {
		assertThat(at(Tick.nearest(EACH_SECOND, MIDNIGHT.plusMillis(499)))).isEqualTo(MIDNIGHT);
		assertThat(at(Tick.nearest(EACH_SECOND, MIDNIGHT.plusMillis(501)))).isEqualTo(MIDNIGHT.plusSeconds(1));
		assertThat(Tick.nearest(EACH_SECOND, MIDNIGHT)).isNotNull()
			.satisfies((tick) -> assertThat(tick.tolerance()).isEqualTo(Duration.ofMillis(500)));
	}

	@Test
	void clocksThatDifferByLessThanHalfTheIntervalAgree() {
		Ticks everyMinute = new Regular(MIDNIGHT, Duration.ofMinutes(1));
		for (int skew = -29_999; skew <= 29_999; skew += 777) {
			assertThat(at(Tick.nearest(everyMinute, MIDNIGHT.plusMillis(skew)))).isEqualTo(MIDNIGHT);
		}
	}

	@Test
	void callByHandBelongsToTheLatestTick() {
		assertThat(at(Tick.latest(DAILY, MIDNIGHT.minusMillis(2)))).isEqualTo(MIDNIGHT.minus(Duration.ofDays(1)));
		assertThat(at(Tick.latest(DAILY, MIDNIGHT))).isEqualTo(MIDNIGHT);
	}

	@Test
	void unionHasTheTicksOfAll() {
		Ticks union = Ticks.union(List.of(DAILY, new Regular(MIDNIGHT.plus(Duration.ofHours(9)), Duration.ofDays(1))));
		assertThat(union.next(MIDNIGHT)).isEqualTo(MIDNIGHT.plus(Duration.ofHours(9)));
		assertThat(union.previousOrSame(MIDNIGHT.plus(Duration.ofHours(10))))
			.isEqualTo(MIDNIGHT.plus(Duration.ofHours(9)));
		assertThat(union.previousOrSame(MIDNIGHT.plus(Duration.ofHours(8)))).isEqualTo(MIDNIGHT);
	}

	@Test
	void scheduleWithoutTicksHasNone() {
		Ticks never = new Ticks() {

			@Override
			public @Nullable Instant next(Instant moment) {
				return null;
			}

			@Override
			public @Nullable Instant previousOrSame(Instant moment) {
				return null;
			}

		};
		assertThat(Tick.nearest(never, MIDNIGHT)).isNull();
		assertThat(Tick.latest(Ticks.union(List.of(never, never)), MIDNIGHT)).isNull();
	}

	private static @Nullable Instant at(@Nullable Tick tick) {
		return (tick != null) ? tick.at() : null;
	}

	private record Regular(Instant origin, Duration interval) implements Ticks {

		@Override
		public Instant next(Instant moment) {
			return previousOrSame(moment).plus(this.interval);
		}

		@Override
		public Instant previousOrSame(Instant moment) {
			long count = Math.floorDiv(Duration.between(this.origin, moment).toMillis(), this.interval.toMillis());
			return this.origin.plus(this.interval.multipliedBy(count));
		}

	}

}
