package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests of {@link RunUnit}.
 */
class RunUnitTests {

	@Test
	void namedUnitHasNoPlaceInTime() {
		RunUnit unit = RunUnit.of("2026-11-29");
		assertThat(unit.id()).isEqualTo("2026-11-29");
		assertThat(unit.begins()).isNull();
		assertThat(unit.within()).isNull();
	}

	@Test
	void calendarUnitBeginsAtAnInstant() {
		Instant begins = Instant.parse("2026-11-29T00:00:00Z");
		RunUnit unit = RunUnit.beginning("2026-11-29", begins, Duration.ofMinutes(1));
		assertThat(unit).isEqualTo(new RunUnit("2026-11-29", begins, Duration.ofMinutes(1), null, null, null));
	}

	@Test
	void rollingPeriodsOfAnyLengthShareOneRecord() {
		RunUnit tenMinutes = RunUnit.rolling(Duration.ofMinutes(10));
		assertThat(tenMinutes.within()).isEqualTo(Duration.ofMinutes(10));
		assertThat(tenMinutes.id()).isEqualTo(RunUnit.rolling(Duration.ofHours(1)).id());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\u2003", " u", "u ", "u\n", "a\0b", "a\nb", "a\u0085b" })
	void unfitTextIsRefused(String id) {
		assertThatIllegalArgumentException().isThrownBy(() -> RunUnit.of(id))
			.withMessageStartingWith("a unit must have 1 to 200 characters");
	}

	@Test
	void halfOfASurrogatePairIsRefused() {
		String half = "😀".substring(0, 1);
		assertThatIllegalArgumentException().isThrownBy(() -> RunUnit.of("a" + half));
	}

	@Test
	void longestUnitIsValidAndALongerOneIsRefused() {
		assertThat(RunUnit.of("日".repeat(200)).id()).hasSize(200);
		assertThatIllegalArgumentException().isThrownBy(() -> RunUnit.of("x".repeat(201)));
	}

	@Test
	void durationsMustMakeSense() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RunUnit.beginning("u", Instant.EPOCH, Duration.ofMillis(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> RunUnit.rolling(Duration.ZERO));
		assertThatIllegalArgumentException().isThrownBy(() -> RunUnit.rolling(Duration.ofMillis(-1)));
	}

}
