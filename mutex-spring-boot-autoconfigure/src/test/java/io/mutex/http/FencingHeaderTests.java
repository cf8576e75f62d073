package io.mutex.http;

import java.util.List;
import java.util.stream.IntStream;

import io.mutex.Fence;
import io.mutex.FencingToken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link FencingHeader}.
 */
class FencingHeaderTests {

	private static final String NONCE = "0123456789abcdef0123456789abcdef";

	@Test
	void looksAsDocumented() {
		assertThat(header("account:42", 17)).hasToString("account:42;17;" + NONCE);
		assertThat(header("größe; 1,2%", 1)).hasToString("gr%C3%B6%C3%9Fe%3B%201%2C2%25;1;" + NONCE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "account:42", "a;b", "a,b", "100 %", "%41", "größe", "日本", "🔑", "a\"b\\c", "a/b~c" })
	void everyResourceIsReadAsItWasSent(String resource) {
		FencingHeader header = header(resource, (1L << 53) - 1);
		assertThat(header.toString()).matches("[\\x21-\\x7e]+").doesNotContain(",").doesNotContain("\"");
		assertThat(FencingHeader.parse(List.of(header.toString()))).containsExactly(header);
	}

	@Test
	void severalResourcesComeInOneLineOrInSeveral() {
		String first = header("a", 1).toString();
		String second = header("b", 1).toString();
		assertThat(FencingHeader.parse(List.of(first, second))).containsExactly(header("a", 1), header("b", 1));
		assertThat(FencingHeader.parse(List.of(first + " ,  " + second))).containsExactly(header("a", 1),
				header("b", 1));
		assertThat(FencingHeader.parse(List.of())).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a", "a;1", ";1;" + NONCE, "a;;" + NONCE, "a;1;", "a;1;short",
			"a;1;" + NONCE + "0", "a;1;" + NONCE + ";x", "a;0;" + NONCE, "a;01;" + NONCE, "a;-1;" + NONCE,
			"a;1.5;" + NONCE, "a;9007199254740992;" + NONCE, "a;99999999999999999999;" + NONCE, "a%;1;" + NONCE,
			"a%4;1;" + NONCE, "a%zz;1;" + NONCE, "%ff;1;" + NONCE, "%00;1;" + NONCE, "%20a;1;" + NONCE,
			"a b;1;" + NONCE, "ä;1;" + NONCE, "a;1;" + NONCE + ",", "a;1;" + NONCE + ",a;2;" + NONCE,
			"Fencing-Token;1;" + NONCE })
	void anythingElseIsRefused(String line) {
		assertThatIllegalArgumentException().isThrownBy(() -> FencingHeader.parse(List.of(line)));
	}

	@Test
	void resourceThatIsTooLongIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> FencingHeader.parse(List.of("a".repeat(201) + ";1;" + NONCE)))
			.withMessageContaining("longer than 200");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> FencingHeader
				.parse(IntStream.range(0, 17).mapToObj((i) -> header("r" + i, 1).toString()).toList()))
			.withMessageContaining("more than 16");
	}

	@Test
	void receiverKnowsNoKeyOfTheSender() {
		Fence sent = new Fence("ledger", "account:42", new FencingToken(3), NONCE, true);
		Fence received = FencingHeader.parse(List.of(FencingHeader.of(sent).toString())).get(0).fence();
		assertThat(received).isEqualTo(new Fence("ledger", "Fencing-Token", new FencingToken(3), NONCE, true));
	}

	private static FencingHeader header(String resource, long token) {
		return new FencingHeader(resource, new FencingToken(token), NONCE);
	}

}
