package io.mutex;

import java.time.Duration;

import io.mutex.run.Owner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests of {@link AcquireRequest}.
 */
class AcquireRequestTests {

	@Test
	void nameIsCutAndPrintable() {
		assertThat(named("n".repeat(201)).name()).isEqualTo("n".repeat(200));
		assertThat(named("a\0b\nc").name()).isEqualTo("a b c");
		assertThat(named("daily #{#id} 日").name()).isEqualTo("daily #{#id} 日");
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 1L << 53, Long.MAX_VALUE })
	void floorIsAToken(long floor) {
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of("k").floor(floor).request());
	}

	@Test
	void nonceLeaseAttemptAndTokensAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of("k").nonce("short").request());
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of("k").ttl(Duration.ofNanos(1000)).request());
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of("k").attempt(-1).request());
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of("k").tokens(0).request());
	}

	private static AcquireRequest named(String name) {
		return new AcquireRequest("k", name, Ask.newNonce(), new Owner("i", "h", 1, "t"), Duration.ofSeconds(1), 0,
				null, 0, 1);
	}

}
