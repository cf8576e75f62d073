package io.mutex.lab;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that end in every way, for {@link TestRunTests}.
 */
class Sample {

	@Test
	void passes() {
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void passesForOneOfTwo(int number) {
		if (number == 2) {
			throw new AssertionError("two\n\tlines");
		}
	}

	@Test
	void lacksAProgram() {
		Assumptions.abort("strace is not there");
	}

	@Test
	@Disabled("not now")
	void isDisabled() {
	}

	@Nested
	class Inner {

		@Test
		void passesInside() {
		}

	}

	/** Fails before its tests. */
	static class Broken {

		@BeforeAll
		static void prepare() {
			throw new IllegalStateException("no server");
		}

		@Test
		void neverBegins() {
		}

	}

	/** Ends its JVM. */
	static class Dying {

		@Test
		void dies() {
			Runtime.getRuntime().halt(3);
		}

	}

}
