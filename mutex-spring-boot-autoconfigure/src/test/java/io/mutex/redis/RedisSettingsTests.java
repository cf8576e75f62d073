package io.mutex.redis;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link RedisSettings}.
 */
class RedisSettingsTests {

	@Test
	void defaultIsThePrefixMutex() {
		assertThat(RedisSettings.defaults()).isEqualTo(new RedisSettings("mutex"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a{b", "a}b", "a b", "a\nb" })
	void prefixThatWouldDisturbTheSlotIsRefused(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisSettings(prefix))
			.withMessageContaining("mutex.redis.key-prefix");
	}

}
