package io.mutex.lab;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.mutex.lab.Event.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Checker}, with a history that breaks each invariant and one that keeps
 * it.
 */
class CheckerTests {

	private static final Allowance STRICT = Allowance.of(Duration.ofNanos(50));

	private final List<Event> events = new ArrayList<>();

	@Test
	void keptByTwoGrantsInTurn() {
		cycle("a", 1, 10, 1, 1);
		cycle("b", 1, 30, 2, 2);
		assertThat(violated(entry(1, 1), entry(2, 2))).isEmpty();
	}

	@Test
	void i1TokenIsGrantedTwice() {
		cycle("a", 1, 10, 5, 1);
		cycle("b", 1, 30, 5, 2);
		assertThat(violated(entry(1, 5), entry(2, 5))).containsOnly("I1");
	}

	@Test
	void i1LaterGrantHasLowerToken() {
		grant("a", 1, 10, 5);
		grant("b", 1, 30, 4);
		assertThat(violated()).containsOnly("I1");
	}

	@Test
	void i1ConcurrentAcquisitionsHaveAnyOrder() {
		add("a", 1, 10, Kind.ACQUIRE, 0, "");
		add("b", 1, 11, Kind.ACQUIRE, 0, "");
		add("a", 1, 20, Kind.GRANTED, 5, "");
		add("b", 1, 21, Kind.GRANTED, 4, "");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i2WriteAfterLaterRegistrationIsAccepted() {
		grant("a", 1, 10, 1);
		grant("b", 1, 20, 2);
		write("a", 1, 30, 1, 1);
		assertThat(violated(entry(1, 1))).containsOnly("I2");
	}

	@Test
	void i2WriteAfterLaterRegistrationIsRefused() {
		grant("a", 1, 10, 1);
		grant("b", 1, 20, 2);
		add("a", 1, 30, Kind.WRITE, 1, "1");
		add("a", 1, 31, Kind.STALE, 1, "1");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i2WriteAfterLaterRegistrationIsInTheDataAndItsHolderWasNotTold() {
		grant("a", 1, 10, 1);
		grant("b", 1, 20, 2);
		add("a", 1, 30, Kind.WRITE, 1, "1");
		assertThat(violated(entry(1, 1))).containsOnly("I2");
		add("a", 1, 31, Kind.DOUBTFUL, 1, "1");
		assertThat(violated(entry(1, 1))).containsOnly("I2");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i2DataHoldsEarlierTokenAfterLaterOne() {
		assertThat(violated(entry(1, 2), entry(2, 1))).containsOnly("I2");
	}

	@Test
	void i3UpdateIsLost() {
		assertThat(violated(entry(1, 1), entry(2, 2), entry(2, 3))).containsOnly("I3");
	}

	@Test
	void i3AcknowledgedWriteIsMissing() {
		cycle("a", 1, 10, 1, 1);
		assertThat(violated()).containsOnly("I3");
	}

	@Test
	void i3RefusedWriteIsInTheData() {
		grant("a", 1, 10, 1);
		add("a", 1, 30, Kind.WRITE, 1, "1");
		add("a", 1, 31, Kind.STALE, 1, "1");
		assertThat(violated(entry(1, 1))).containsOnly("I3");
	}

	@Test
	void i3DoubtfulWriteMayBeEither() {
		grant("a", 1, 10, 1);
		add("a", 1, 30, Kind.WRITE, 1, "1");
		add("a", 1, 31, Kind.DOUBTFUL, 1, "1");
		assertThat(violated()).isEmpty();
		assertThat(violated(entry(1, 1))).isEmpty();
	}

	@Test
	void i4BothAreValidAtOnce() {
		grant("a", 1, 10, 1);
		grant("b", 1, 20, 2);
		add("b", 1, 25, Kind.VALID, 2, "");
		add("a", 1, 30, Kind.VALID, 1, "");
		assertThat(violated()).containsOnly("I4");
	}

	@Test
	void i4LongIntervalCoversSeveral() {
		grant("a", 1, 10, 1);
		cycle("b", 1, 20, 2, 1);
		cycle("c", 1, 40, 3, 2);
		add("a", 1, 90, Kind.VALID, 1, "");
		assertThat(check(STRICT, entry(1, 2), entry(2, 3)).stream()
			.filter((violation) -> violation.invariant().equals("I4"))).hasSize(2);
	}

	@Test
	void i4FaultLiftsIt() {
		grant("a", 1, 10, 1);
		grant("b", 1, 20, 2);
		add("b", 1, 25, Kind.VALID, 2, "");
		add("a", 1, 30, Kind.VALID, 1, "");
		assertThat(check(Allowance.of(Duration.ofNanos(50), "I4"))).isEmpty();
	}

	@Test
	void i5ForeignReleaseChangesOwner() {
		add("a", 1, 10, Kind.FOREIGN, 1, "n1 -> nobody");
		assertThat(violated()).containsOnly("I5");
	}

	@Test
	void i5StoreDoesNotKnowTheHolder() {
		add("a", 1, 10, Kind.FOREIGN, 1, "nobody -> nobody");
		assertThat(violated()).containsOnly("I5");
	}

	@Test
	void i5ForeignReleaseChangesNothing() {
		add("a", 1, 10, Kind.FOREIGN, 1, "n1 -> n1");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i6UnitIsRecordedTwice() {
		grant("a", 1, 10, 1);
		add("a", 1, 13, Kind.RECORDED, 1, "u1");
		grant("b", 1, 20, 2);
		add("b", 1, 23, Kind.RECORDED, 2, "u1");
		assertThat(violated()).containsOnly("I6");
	}

	@Test
	void i6UnitsAreRecordedOnceEach() {
		grant("a", 1, 10, 1);
		add("a", 1, 13, Kind.RECORDED, 1, "u1");
		grant("b", 1, 20, 2);
		add("b", 1, 23, Kind.RECORDED, 2, "u2");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i6UnitRunsAfterItsRecord() {
		grant("a", 1, 10, 1);
		add("a", 1, 13, Kind.EFFECT, 1, "u1");
		add("a", 1, 14, Kind.RECORDED, 1, "u1");
		grant("b", 1, 20, 2);
		add("b", 1, 23, Kind.EFFECT, 2, "u1");
		assertThat(violated()).containsOnly("I6");
	}

	@Test
	void i6UnitThatWasAskedForBeforeTheRecordMayHaveRunTwice() {
		grant("a", 1, 10, 1);
		add("b", 1, 11, Kind.ACQUIRE, 0, "");
		add("a", 1, 13, Kind.EFFECT, 1, "u1");
		add("b", 1, 14, Kind.GRANTED, 2, "");
		add("b", 1, 15, Kind.EFFECT, 2, "u1");
		add("a", 1, 16, Kind.RECORDED, 1, "u1");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i6UnitIsSkippedAsDoneThatNobodyHasRun() {
		add("a", 1, 10, Kind.ACQUIRE, 0, "");
		add("a", 1, 12, Kind.SKIPPED, 0, "u1");
		assertThat(violated()).containsOnly("I6");
	}

	@Test
	void i6UnitIsSkippedAsDoneAfterItHasRun() {
		grant("a", 1, 10, 1);
		add("a", 1, 13, Kind.EFFECT, 1, "u1");
		add("b", 1, 20, Kind.ACQUIRE, 0, "");
		add("b", 1, 22, Kind.SKIPPED, 0, "u1");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i7BodyRunsOnUnknownAcquisition() {
		grant("a", 1, 10, 1);
		add("a", 1, 13, Kind.UNKNOWN, 0, "");
		assertThat(violated()).containsOnly("I7");
	}

	@Test
	void i7UnknownAcquisitionRunsNothing() {
		add("a", 1, 10, Kind.ACQUIRE, 0, "");
		add("a", 1, 13, Kind.UNKNOWN, 0, "");
		assertThat(violated()).isEmpty();
	}

	@Test
	void i8NextGrantComesLate() {
		grant("a", 1, 10, 1);
		add("a", 0, 20, Kind.KILLED, 0, "");
		grant("b", 1, 100, 2);
		assertThat(violated()).containsOnly("I8");
	}

	@Test
	void i8NextGrantComesInTime() {
		grant("a", 1, 10, 1);
		add("a", 0, 20, Kind.KILLED, 0, "");
		grant("b", 1, 60, 2);
		assertThat(violated()).isEmpty();
		assertThat(takeovers()).containsExactly(42L);
	}

	@Test
	void i8NobodyGetsTheKeyOfADeadHolder() {
		grant("a", 1, 10, 1);
		add("a", 0, 20, Kind.KILLED, 0, "");
		add("b", 1, 30, Kind.ACQUIRE, 0, "");
		add("b", 1, 31 + TimeUnit.SECONDS.toNanos(6), Kind.REFUSED, 0, "");
		assertThat(violated()).containsOnly("I8");
	}

	@Test
	void i8NobodyGetsAKeyThatWasReleased() {
		cycle("a", 1, 10, 1, 1);
		add("b", 1, 30, Kind.ACQUIRE, 0, "");
		add("b", 1, 31 + TimeUnit.SECONDS.toNanos(6), Kind.REFUSED, 0, "");
		assertThat(violated(entry(1, 1))).containsOnly("I8");
	}

	@Test
	void takeoverBeginsWhenTheDeathWasSeen() {
		grant("a", 1, 10, 1);
		add("a", 0, 90, Kind.KILLED, 0, "20");
		grant("b", 1, 100, 2);
		assertThat(violated()).isEmpty();
		assertThat(takeovers()).containsExactly(12L);
	}

	@Test
	void takeoverWhileTheKillingLastsTakesNoTime() {
		grant("a", 1, 10, 1);
		grant("b", 1, 40, 2);
		add("a", 0, 90, Kind.KILLED, 0, "20");
		assertThat(takeovers()).containsExactly(0L);
	}

	@Test
	void whoWasSucceededBeforeTheKillingIsNoDeadHolder() {
		grant("a", 1, 10, 1);
		grant("b", 1, 40, 2);
		add("a", 0, 90, Kind.KILLED, 0, "60");
		assertThat(takeovers()).isEmpty();
	}

	@Test
	void i9ListingChangesOwner() {
		add("a", 1, 10, Kind.LISTED, 1, "n1 -> n2");
		assertThat(violated()).containsOnly("I9");
	}

	@Test
	void i9ListingChangesNothing() {
		add("a", 1, 10, Kind.LISTED, 1, "n1 -> n1");
		assertThat(violated()).isEmpty();
	}

	@Test
	void timelineShowsBothHolders() {
		grant("a", 1, 10, 5);
		grant("b", 1, 30, 5);
		History history = new History(this.events, List.of());
		assertThat(history.timeline(Checker.check(history, STRICT).get(0))).contains("a#1", "b#1", "GRANTED");
	}

	@Test
	void eventSurvivesItsLine() {
		Event event = new Event(7, "a", 1, Kind.WROTE, "k", "n1", 1, "some text");
		assertThat(Event.parse(event.format())).isEqualTo(event);
	}

	private void cycle(String process, long attempt, long at, long token, long number) {
		grant(process, attempt, at, token);
		add(process, attempt, at + 3, Kind.VALID, token, "");
		write(process, attempt, at + 4, token, number);
		add(process, attempt, at + 6, Kind.END, token, "");
	}

	private void grant(String process, long attempt, long at, long token) {
		add(process, attempt, at, Kind.ACQUIRE, 0, "");
		add(process, attempt, at + 2, Kind.GRANTED, token, "");
	}

	private void write(String process, long attempt, long at, long token, long number) {
		add(process, attempt, at, Kind.WRITE, token, Long.toString(number));
		add(process, attempt, at + 1, Kind.WROTE, token, Long.toString(number));
	}

	private void add(String process, long attempt, long at, Kind kind, long token, String detail) {
		String nonce = (token != 0) ? "n" + token : "";
		this.events.add(new Event(at, process, attempt, kind, "key", nonce, token, detail));
	}

	private static Entry entry(long number, long token) {
		return new Entry("key", number, token, "n" + token);
	}

	private List<Long> takeovers() {
		return Takeover.of(new History(this.events, List.of())).stream().map(Takeover::nanos).toList();
	}

	private List<String> violated(Entry... entries) {
		return check(STRICT, entries).stream().map(Violation::invariant).distinct().toList();
	}

	private List<Violation> check(Allowance allowance, Entry... entries) {
		return Checker.check(new History(this.events, Arrays.asList(entries)), allowance);
	}

}
