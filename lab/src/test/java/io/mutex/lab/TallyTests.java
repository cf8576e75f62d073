package io.mutex.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.mutex.lab.Event.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Tally}.
 */
class TallyTests {

	private final List<Event> events = new ArrayList<>();

	@Test
	void writeThatBeganAfterALaterGrantIsStale() {
		add("a", 1, Kind.GRANTED, "");
		add("b", 2, Kind.GRANTED, "");
		add("a", 3, Kind.WRITE, "1");
		add("a", 4, Kind.WROTE, "1");
		add("b", 5, Kind.WRITE, "1");
		add("b", 6, Kind.WROTE, "1");
		assertThat(tally().stale()).isOne();
	}

	@Test
	void writeThatWasRefusedIsNotCountedAsAccepted() {
		add("a", 1, Kind.GRANTED, "");
		add("b", 2, Kind.GRANTED, "");
		add("a", 3, Kind.WRITE, "1");
		add("a", 4, Kind.STALE, "1");
		assertThat(tally().stale()).isZero();
	}

	@Test
	void callThatFailsTwiceCountsOnce() {
		add("a", 1, Kind.GRANTED, "");
		add("a", 2, Kind.DOUBTFUL, "1");
		add("a", 3, Kind.LOST, "");
		assertThat(tally().failed()).isOne();
	}

	@Test
	void keyOfADeadHolderThatNobodyGetsIsStuck() {
		add("a", 1, Kind.GRANTED, "");
		add("b", 2, Kind.ACQUIRE, "");
		this.events.add(new Event(seconds(3), "a", 0, Kind.KILLED, "", "", 0, ""));
		add("b", 10, Kind.REFUSED, "");
		assertThat(tally().stuck()).containsExactly("key");
	}

	@Test
	void keyThatSomebodyHoldsIsNotStuck() {
		add("a", 1, Kind.GRANTED, "");
		add("b", 2, Kind.ACQUIRE, "");
		add("b", 10, Kind.REFUSED, "");
		add("a", 11, Kind.END, "");
		assertThat(tally().stuck()).isEmpty();
	}

	@Test
	void keyThatWasFreedLateInTheWaitIsNotStuck() {
		add("a", 1, Kind.GRANTED, "");
		add("b", 2, Kind.ACQUIRE, "");
		add("a", 9, Kind.END, "");
		add("b", 10, Kind.REFUSED, "");
		assertThat(tally().stuck()).isEmpty();
	}

	@Test
	void bodyThatDoesNotComeToRunIsAStall() {
		add("a", 1, Kind.VALID, "");
		add("a", 2, Kind.VALID, "");
		add("a", 4, Kind.VALID, "");
		add("a", 5, Kind.WRITE, "1");
		add("a", 9, Kind.VALID, "");
		assertThat(tally().stall()).isEqualTo(2980);
	}

	@Test
	void bodyThatAFaultKeepsFromRunningIsNone() {
		add("a", 1, Kind.VALID, "");
		add("nemesis", 2, Kind.FAULT, "P2");
		add("a", 5, Kind.VALID, "");
		add("nemesis", 6, Kind.HEALED, "P2");
		add("a", 7, Kind.VALID, "");
		assertThat(tally().stall()).isZero();
	}

	private Tally tally() {
		return Tally.of(new History(this.events, List.of()), List.of(), List.of());
	}

	private void add(String process, long second, Kind kind, String detail) {
		this.events.add(new Event(seconds(second), process, 1, kind, "key", process, 1, detail));
	}

	private static long seconds(long seconds) {
		return TimeUnit.SECONDS.toNanos(seconds);
	}

}
