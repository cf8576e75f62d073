package io.mutex.engine;

import java.time.Duration;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long a lease is believed.
 */
class ValidityTests {

	private final FrozenTime time = new FrozenTime();

	@ParameterizedTest
	@CsvSource({ "1s, 940", "2s, 1880", "30s, 28200", "2m, 112800" })
	@DisplayName("C7 one percent for the drift, and a margin of 5 percent, at least 50 ms")
	void driftAndMarginAreLeftOut(String lease, long millis) {
		Duration ttl = Duration.parse("PT" + lease);
		assertThat(Duration.ofNanos(Validity.sentNow(this.time, ttl).remaining(this.time))).hasMillis(millis);
	}

	@Test
	@DisplayName("C1 C5 the clock that ran further counts")
	void clockThatRanFurtherCounts() {
		Validity validity = Validity.sentNow(this.time, Duration.ofSeconds(30));
		long full = validity.remaining(this.time);
		this.time.monotonic += Duration.ofSeconds(5).toNanos();
		assertThat(full - validity.remaining(this.time)).isEqualTo(Duration.ofSeconds(5).toNanos());
		this.time.wall -= Duration.ofHours(1).toNanos();
		assertThat(full - validity.remaining(this.time)).isEqualTo(Duration.ofSeconds(5).toNanos());
		this.time.wall += Duration.ofHours(2).toNanos();
		assertThat(full - validity.remaining(this.time)).isEqualTo(Duration.ofHours(1).toNanos());
	}

	@Test
	void originOfTheClocksDoesNotMatter() {
		this.time.monotonic = Long.MAX_VALUE - 5;
		Validity validity = Validity.sentNow(this.time, Duration.ofSeconds(1));
		this.time.monotonic += 10;
		assertThat(validity.remaining(this.time)).isEqualTo(Duration.ofMillis(940).toNanos() - 10);
	}

	private static final class FrozenTime implements TimeSource {

		private long monotonic;

		private long wall;

		@Override
		public long monotonicNanos() {
			return this.monotonic;
		}

		@Override
		public long wallNanos() {
			return this.wall;
		}

	}

}
