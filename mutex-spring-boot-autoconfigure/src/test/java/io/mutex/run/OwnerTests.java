package io.mutex.run;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@link Owner}.
 */
class OwnerTests {

	@Test
	void textIsReadBack() {
		Owner owner = new Owner("pod-1", "host-1", 4711, "scheduling-1");
		assertThat(owner.toText()).isEqualTo("pod-1|host-1|4711|scheduling-1");
		assertThat(Owner.parse(owner.toText())).isEqualTo(owner);
	}

	@Test
	void separatorsAndControlCharactersAreReplaced() {
		Owner owner = new Owner("a|b", "c\nd", 1, "e\0|f");
		assertThat(owner).isEqualTo(new Owner("a_b", "c_d", 1, "e__f"));
		assertThat(Owner.parse(owner.toText())).isEqualTo(owner);
	}

	@Test
	void emptyPartsAreReadBack() {
		Owner owner = new Owner("", "", 0, "");
		assertThat(Owner.parse(owner.toText())).isEqualTo(owner);
	}

	@Test
	void textHasAtMost300Characters() {
		Owner owner = new Owner("日".repeat(300), "h".repeat(300), Long.MAX_VALUE, "t".repeat(300));
		assertThat(owner.instance()).hasSize(90);
		assertThat(owner.toText()).hasSizeLessThanOrEqualTo(300);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "somebody", "a|b", "a|b|c|d", "a|b|-1|d", "a|b||d", "a|b|12345678901234567890|d" })
	void textOfAnotherFormIsKeptAsTheInstance(String text) {
		assertThat(Owner.parse(text)).isEqualTo(new Owner(text, "unknown", 0, "unknown"));
	}

	@Test
	void partsThatALaterVersionAddsAreLeftOut() {
		assertThat(Owner.parse("a|b|1|d|more|still")).isEqualTo(new Owner("a", "b", 1, "d"));
	}

}
