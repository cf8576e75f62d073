package io.mutex.lab;

import io.mutex.lab.Event.Kind;
import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Clocks}.
 */
class ClocksTests {

	private static final long HOUR = 3_600_000_000_000L;

	@Test
	void onlyWhatTheWorkerItselfHasWrittenDownIsCorrected() {
		try (Clocks clocks = new Clocks(Scenario.C7)) {
			clocks.give(JavaProcess.of(ClocksTests.class), "w1");
			long later = System.nanoTime() + HOUR;
			assertThat(clocks.onTrueTime(event(later, "w1", Kind.GRANTED)).at()).isGreaterThan(later);
			assertThat(clocks.onTrueTime(event(later, "w2", Kind.GRANTED)).at()).isEqualTo(later);
			assertThat(clocks.onTrueTime(event(later, "w1", Kind.FAULT)).at()).isEqualTo(later);
			assertThat(clocks.onTrueTime(event(later, "w1", Kind.HEALED)).at()).isEqualTo(later);
			assertThat(clocks.onTrueTime(event(later, "w1", Kind.KILLED)).at()).isEqualTo(later);
		}
	}

	private static Event event(long at, String process, Kind kind) {
		return new Event(at, process, 1, kind, "", "", 0, "");
	}

}
