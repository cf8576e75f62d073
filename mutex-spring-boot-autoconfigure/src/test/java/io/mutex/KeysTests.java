package io.mutex;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests of {@link Keys}.
 */
class KeysTests {

	@ParameterizedTest
	@ValueSource(
			strings = { "a", "account:42", "a b", "日報-1", "😀", "../../etc/passwd", "{x}", "%", "#", "é", "e\u0301" })
	void validKeyIsReturnedUnchanged(String key) {
		assertThat(Keys.requireValid(key)).isSameAs(key);
	}

	@Test
	void nullIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(null))
			.withMessage("a lock key must not be null");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t", "\n ", "\u2003" })
	void blankIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(key))
			.withMessage("a lock key must not be blank");
	}

	@ParameterizedTest
	@ValueSource(strings = { " a", "a ", "a\n", "\ta", "\u2003a" })
	void paddedIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(key))
			.withMessageStartingWith("a lock key must not be padded with white space: '");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\0b", "a\nb", "a\u007fb", "a\u0085b" })
	void controlCharacterIsRefusedAndNotPrinted(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(key))
			.withMessageStartingWith("a lock key must not be given a control character: 'a")
			.satisfies((ex) -> assertThat(ex.getMessage().chars()).noneMatch((character) -> character < ' '));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0xD83D, 0xDE00 })
	void halfOfASurrogatePairIsRefused(int half) {
		String key = "a" + (char) half + "b";
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(key))
			.withMessage("a lock key must not be given half of a surrogate pair: 'a?b'");
	}

	@Test
	@DisplayName("C29 a key of 200 characters is valid, and one of 201 is refused with its length")
	void longestKeyIsValidAndALongerOneIsRefused() {
		String longest = "x".repeat(Keys.MAX_LENGTH);
		assertThat(Keys.requireValid(longest)).isSameAs(longest);
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(longest + "y"))
			.withMessage("a lock key must not be longer than 200 characters (it has 201): '" + longest + "…'");
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid("z".repeat(500)))
			.withMessageContaining("it has 500");
	}

	@Test
	@DisplayName("C30 the length of a key counts characters, not bytes")
	void lengthCountsCharacters() {
		String longest = "日".repeat(Keys.MAX_LENGTH);
		assertThat(Keys.requireValid(longest)).isSameAs(longest);
		String emoji = "😀".repeat(Keys.MAX_LENGTH / 2);
		assertThat(Keys.requireValid(emoji)).isSameAs(emoji);
		assertThatIllegalArgumentException().isThrownBy(() -> Keys.requireValid(emoji + "😀"));
	}

	@Test
	void requestRefusesAnInvalidKey() {
		assertThatIllegalArgumentException().isThrownBy(() -> Ask.of(" ").request());
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("x".repeat(201)));
	}

}
