package io.mutex.run;

import java.time.Duration;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Durations}.
 */
class DurationsTests {

	@ParameterizedTest
	@DisplayName("C138 a duration with a unit means what it means in configuration")
	@ValueSource(strings = { "30s", "14m", "14M", "PT14M", "pt14m", "90m", "2h", "1d", "500us", "250ms", "7ns", "-1s",
			"+5s", "0s" })
	void readsWhatConfigurationReads(String text) {
		assertThat(Durations.parse(text)).isEqualTo(DurationStyle.detectAndParse(text));
	}

	@Test
	void readsZeroWithoutUnit() {
		assertThat(Durations.parse("0")).isEqualTo(Duration.ZERO);
	}

	@ParameterizedTest
	@DisplayName("C138 anything else is refused with the remedy")
	@ValueSource(strings = { "60000", "1", " 5m ", "5 m", "1h30m", "", "m", "5w", "5x", "P1Y", "PT",
			"99999999999999999999s", "99999999999999999d", "٣s" })
	void refusesAnythingElse(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Durations.parse(text))
			.withMessageContaining("'" + text + "' is not a duration")
			.withMessageContaining("such as 30s");
	}

}
