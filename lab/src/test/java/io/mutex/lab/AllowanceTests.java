package io.mutex.lab;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.mutex.lab.Event.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Allowance} and {@link Window}: what is allowed near a fault, and what
 * is not.
 */
class AllowanceTests {

	private static final long SECOND = 1_000_000_000L;

	private static final long HEALED = 12 * SECOND;

	// two leases and the hold-off
	private static final long OVER = HEALED + 6 * SECOND;

	private final List<Event> events = new ArrayList<>();

	@Test
	void overlapIsAllowedWhileTheFaultIsAtWork() {
		fault("C3", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I4", 11 * SECOND, OVER)).isTrue();
	}

	@Test
	void overlapIsNotAllowedBeforeTheFault() {
		fault("C3", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I4", 9 * SECOND, 11 * SECOND)).isFalse();
	}

	@Test
	void overlapIsNotAllowedWhenTheFaultIsOver() {
		fault("C3", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I4", 11 * SECOND, OVER + 1)).isFalse();
	}

	@Test
	void overlapIsNotAllowedByAFaultThatDoesNotLiftIt() {
		fault("R9", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I4", 11 * SECOND, HEALED)).isFalse();
	}

	@Test
	void faultLiftsNothingElse() {
		fault("C3", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(List.of("I1", "I2", "I3", "I6", "I7")).noneMatch((name) -> allows(name, 11 * SECOND, HEALED));
	}

	@Test
	void secondRecordIsAllowedWhereTheFirstOneIsOlderThanTheLoss() {
		fault("R1", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I6", 9 * SECOND, 11 * SECOND)).isTrue();
		assertThat(allows("I6", 8 * SECOND, 9 * SECOND)).isFalse();
	}

	@Test
	void nextGrantMayBeLateOnlyWhereAnotherFaultIsAtWork() {
		fault("N5", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I8", 5 * SECOND, 11 * SECOND)).isTrue();
		assertThat(allows("I8", 1 * SECOND, 9 * SECOND)).isFalse();
		assertThat(allows("I8", OVER + 1, OVER + 9 * SECOND)).isFalse();
	}

	@Test
	void faultThatStrikesAfterTheGrantWasToComeExplainsNothing() {
		fault("N5", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allows("I8", 4 * SECOND, 20 * SECOND)).isFalse();
	}

	@Test
	void tokenOfAnUnguardedKeyMayGoBackAfterALossWithTheClockAheadBefore() {
		Violation job = new Violation("I1", "job-one", 1, 60 * SECOND, "");
		Violation guarded = new Violation("I1", "one", 1, 60 * SECOND, "");
		fault("C3", Field.NEMESIS, 10 * SECOND, HEALED);
		assertThat(allowance().allows(job)).isFalse();
		fault("R1", Field.NEMESIS, 40 * SECOND, 41 * SECOND);
		assertThat(allowance().allows(job)).isTrue();
		assertThat(allowance().allows(guarded)).isFalse();
		assertThat(allowance().allows(new Violation("I1", "job-one", 1, OVER + 121 * SECOND, ""))).isFalse();
	}

	@Test
	void twoFaultsHaveAWindowEach() {
		this.events.add(event(10 * SECOND, Kind.FAULT, Field.NEMESIS, "C3"));
		this.events.add(event(11 * SECOND, Kind.FAULT, "w2", "N4"));
		this.events.add(event(12 * SECOND, Kind.HEALED, Field.NEMESIS, "C3"));
		this.events.add(event(15 * SECOND, Kind.HEALED, "w2", "N4"));
		assertThat(windows()).extracting(Window::from).containsExactly(10 * SECOND, 11 * SECOND);
		assertThat(allows("I4", 19 * SECOND, 20 * SECOND)).isFalse();
	}

	@Test
	void faultThatIsNotHealedLasts() {
		this.events.add(event(10 * SECOND, Kind.FAULT, Field.NEMESIS, "C3"));
		assertThat(allows("I4", 100 * SECOND, 101 * SECOND)).isTrue();
	}

	@Test
	void lossIsExplainedByTheFaultOfItsProcessOnly() {
		fault("N4", "w2", 10 * SECOND, HEALED);
		this.events.add(event(11 * SECOND, Kind.LOST, "w2", ""));
		assertThat(Figures.of(history(), windows()).lost()).isZero();
		this.events.add(event(11 * SECOND, Kind.LOST, "w1", ""));
		assertThat(Figures.of(history(), windows()).lost()).isOne();
	}

	@Test
	void lossIsCountedWhereNoFaultIsNear() {
		fault("N5", Field.NEMESIS, 10 * SECOND, HEALED);
		this.events.add(event(OVER, Kind.LOST, "w1", ""));
		assertThat(Figures.of(history(), windows()).lost()).isZero();
		this.events.add(event(OVER + 1, Kind.LOST, "w2", ""));
		assertThat(Figures.of(history(), windows()).lost()).isOne();
	}

	private void fault(String name, String victim, long from, long healed) {
		this.events.add(event(from, Kind.FAULT, victim, name));
		this.events.add(event(healed, Kind.HEALED, victim, name));
	}

	private static Event event(long at, Kind kind, String process, String detail) {
		return new Event(at, process, 1, kind, "", "", 0, detail);
	}

	private boolean allows(String invariant, long from, long to) {
		return allowance().allows(new Violation(invariant, "key", from, to, ""));
	}

	private Allowance allowance() {
		return new Allowance(Duration.ofSeconds(5), windows());
	}

	private List<Window> windows() {
		return Window.of(history(), Provider.REDIS);
	}

	private History history() {
		return new History(this.events, List.of());
	}

}
