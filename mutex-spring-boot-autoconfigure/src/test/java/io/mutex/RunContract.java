package io.mutex;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.NotYet;
import io.mutex.Acquisition.Stale;
import io.mutex.Acquisition.TooEarly;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about units: records, failures, attempts and the order of the
 * answers.
 */
abstract class RunContract extends LeaseContract {

	static final Duration HOUR = Duration.ofHours(1);

	@Test
	void waiterThatGetsTheKeyFindsTheUnitDone() {
		Holding holding = take(Ask.of(newKey()).unit("u"));
		assertThat(holding.attempt()).isEqualTo(1);
		assertThat(holding.doubt()).isNull();
		Ask waiter = Ask.of(holding.key()).unit("u");
		assertThat(ask(waiter)).isInstanceOf(Held.class);
		assertThat(provider().complete(holding.grant(), "u")).isEqualTo(Settlement.SETTLED);
		assertThat(ask(waiter)).isInstanceOfSatisfying(Done.class, (done) -> {
			RunRecord record = done.record();
			assertThat(record.key()).isEqualTo(holding.key());
			assertThat(record.unit()).isEqualTo("u");
			assertThat(record.status()).isEqualTo(Status.DONE);
			assertThat(record.token()).isEqualTo(holding.token());
			assertThat(record.owner()).isEqualTo(holding.request().owner());
			assertThat(record.attempt()).isEqualTo(1);
			assertThat(record.began()).isBeforeOrEqualTo(record.ended());
			assertThat(record.notBefore()).isNull();
			assertThat(record.error()).isNull();
			assertThat(provider().runs(holding.key(), 10)).containsExactly(record);
		});
		assertThat(provider().lock(holding.key())).isEmpty();
	}

	@Test
	void completionFreesTheKeyForAnotherUnitInTheSameStep() {
		Holding first = take(Ask.of(newKey()).unit("u1"));
		provider().complete(first.grant(), "u1");
		Holding second = take(other(), Ask.of(first.key()).unit("u2"));
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(second.attempt()).isEqualTo(1);
		assertThat(second.doubt()).isNull();
	}

	@Test
	void doneIsAnsweredAlsoWhileAnotherUnitRuns() {
		Holding first = done(newKey(), "u1");
		take(Ask.of(first.key()).unit("u2"));
		assertThat(ask(Ask.of(first.key()).unit("u1"))).isInstanceOf(Done.class);
		assertThat(ask(Ask.of(first.key()).unit("u3"))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.unit()).isEqualTo("u2"));
		assertThat(ask(Ask.of(first.key()))).isInstanceOf(Held.class);
	}

	@Test
	void recordsBelongToOneKeyAndOneUnit() {
		Holding first = done(newKey(), "Unit é");
		assertThat(ask(Ask.of(newKey()).unit("Unit é"))).isInstanceOf(Granted.class);
		for (String unit : List.of("unit é", "Unit e\u0301", "Unit é.", "Unit", "u'\"%{}\\|#😀".repeat(15))) {
			Holding other = take(Ask.of(first.key()).unit(unit));
			assertThat(provider().complete(other.grant(), unit)).isEqualTo(Settlement.SETTLED);
			assertThat(ask(Ask.of(first.key()).unit(unit))).isInstanceOf(Done.class);
		}
		assertThat(ask(Ask.of(first.key()).unit("Unit é"))).isInstanceOf(Done.class);
		assertThat(provider().runs(first.key(), 10)).hasSize(6);
	}

	@Test
	void completionMayBeRepeated() {
		Holding first = take(Ask.of(newKey()).unit("u1"));
		assertThat(provider().complete(first.grant(), "u1")).isEqualTo(Settlement.SETTLED);
		List<RunRecord> runs = provider().runs(first.key(), 10);
		assertThat(provider().complete(first.grant(), "u1")).isEqualTo(Settlement.SETTLED);
		Holding second = take(Ask.of(first.key()).unit("u2"));
		assertThat(other().complete(first.grant(), "u1")).isEqualTo(Settlement.SETTLED);
		assertThat(provider().runs(first.key(), 10)).isEqualTo(runs);
		assertHeldBy(second);
	}

	@Test
	void releaseAfterAnOutcomeLeavesTheOutcome() {
		Holding completed = done(newKey(), "u1");
		provider().release(completed.key(), completed.nonce(), true);
		assertThat(ask(Ask.of(completed.key()).unit("u1"))).isInstanceOf(Done.class);
		Holding failed = take(Ask.of(completed.key()).unit("u2"));
		provider().fail(failed.grant(), "u2", "error", HOUR);
		provider().release(failed.key(), failed.nonce(), true);
		assertThat(ask(Ask.of(failed.key()).unit("u2").attempt(2))).isInstanceOf(NotYet.class);
		assertThat(provider().runs(completed.key(), 10)).extracting(RunRecord::status)
			.containsExactly(Status.FAILED, Status.DONE);
	}

	@Test
	void outcomeOfAnotherChangesNothing() throws Exception {
		Holding late = abandon(newKey(), "u");
		Holding holding = take(other(), Ask.of(late.key()).unit("u"));
		List<RunRecord> runs = provider().runs(late.key(), 10);
		List<Grant> strangers = List.of(late.grant(),
				new Grant(late.key(), Ask.newNonce(), holding.token(), holding.request().ttl()),
				new Grant(late.key(), holding.nonce(), late.token(), holding.request().ttl()));
		for (Grant stranger : strangers) {
			assertThat(provider().complete(stranger, "u")).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider().fail(stranger, "u", "error", HOUR)).isEqualTo(Settlement.NOT_OWNER);
		}
		assertThat(other().complete(holding.grant(), "another")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(other().fail(holding.grant(), "another", "error", HOUR)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().runs(late.key(), 10)).isEqualTo(runs).noneMatch((run) -> run.status() != Status.IN_DOUBT);
		assertHeldBy(holding);
		assertThat(other().complete(holding.grant(), "u")).isEqualTo(Settlement.SETTLED);
		assertThat(provider().complete(late.grant(), "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().fail(late.grant(), "u", "error", HOUR)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(ask(Ask.of(late.key()).unit("u"))).isInstanceOf(Done.class);
	}

	@Test
	void outcomeForAnUnseenKeyIsNobodys() {
		Grant grant = new Grant(newKey(), Ask.newNonce(), 1, HOUR);
		assertThat(provider().complete(grant, "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().fail(grant, "u", "error", HOUR)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().runs(grant.key(), 10)).isEmpty();
		assertThat(take(Ask.of(grant.key()).unit("u")).attempt()).isEqualTo(1);
	}

	@Test
	void failedRunLeavesTheUnitOpenAndSaysWhy() {
		String error = "java.lang.IllegalStateException: 失敗 😀 'quoted' ".repeat(20).substring(0, 500);
		Holding failed = take(Ask.of(newKey()).unit("u"));
		Instant before = Instant.now();
		assertThat(provider().fail(failed.grant(), "u", error, HOUR)).isEqualTo(Settlement.SETTLED);
		assertThat(provider().lock(failed.key())).isEmpty();
		assertThat(provider().runs(failed.key(), 10)).singleElement().satisfies((run) -> {
			assertThat(run.status()).isEqualTo(Status.FAILED);
			assertThat(run.attempt()).isEqualTo(1);
			assertThat(run.token()).isEqualTo(failed.token());
			assertThat(run.error()).isEqualTo(error);
			assertThat(run.notBefore()).isBetween(before.plus(Duration.ofMinutes(59)),
					before.plus(Duration.ofMinutes(61)));
		});
		Holding next = take(other(), Ask.of(failed.key()).unit("u"));
		assertThat(next.attempt()).isEqualTo(2);
		assertThat(next.doubt()).isNull();
	}

	@Test
	void failureMayBeRepeatedAndMovesNothing() {
		Holding failed = take(Ask.of(newKey()).unit("u"));
		assertThat(provider().fail(failed.grant(), "u", "first", HOUR)).isEqualTo(Settlement.SETTLED);
		List<RunRecord> runs = provider().runs(failed.key(), 10);
		assertThat(provider().fail(failed.grant(), "u", "second", HOUR.multipliedBy(9))).isEqualTo(Settlement.SETTLED);
		assertThat(provider().complete(failed.grant(), "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().runs(failed.key(), 10)).isEqualTo(runs);
	}

	@Test
	void attemptIsGrantedOnlyAfterTheOneBeforeAndInItsTime() {
		Holding failed = take(Ask.of(newKey()).unit("u").attempt(1));
		provider().fail(failed.grant(), "u", "error", HOUR);
		for (int attempt : new int[] { 1, 2, 3 }) {
			assertThat(ask(Ask.of(failed.key()).unit("u").attempt(attempt))).isInstanceOfSatisfying(NotYet.class,
					(notYet) -> {
						assertThat(notYet.last().attempt()).isEqualTo(1);
						assertThat(notYet.last().status()).isEqualTo(Status.FAILED);
						assertThat(notYet.remaining()).isBetween(Duration.ofMinutes(50), HOUR);
					});
		}
		Holding byHand = take(Ask.of(failed.key()).unit("u"));
		assertThat(byHand.attempt()).isEqualTo(2);
		provider().fail(byHand.grant(), "u", "error", Duration.ZERO);
		assertThat(ask(Ask.of(failed.key()).unit("u").attempt(2))).isInstanceOfSatisfying(NotYet.class, (notYet) -> {
			assertThat(notYet.last().attempt()).isEqualTo(2);
			assertThat(notYet.remaining()).isZero();
		});
		assertThat(ask(Ask.of(failed.key()).unit("u").attempt(4))).isInstanceOf(NotYet.class);
		assertThat(take(Ask.of(failed.key()).unit("u").attempt(3)).attempt()).isEqualTo(3);
	}

	@Test
	void attemptBecomesDueByTheClockOfTheStore() {
		Holding failed = take(Ask.of(newKey()).unit("u"));
		provider().fail(failed.grant(), "u", "error", Duration.ofMillis(400));
		Acquisition answer = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> ask(Ask.of(failed.key()).unit("u").attempt(2)), (last) -> !(last instanceof NotYet));
		assertThat(answer).isInstanceOfSatisfying(Granted.class,
				(granted) -> assertThat(granted.attempt()).isEqualTo(2));
		Instant due = provider().runs(failed.key(), 1).get(0).notBefore();
		assertThat(provider().lock(failed.key()).orElseThrow().acquiredAt()).isAfterOrEqualTo(due);
	}

	@Test
	void otherUnitsHaveAttemptsOfTheirOwn() {
		Holding failed = take(Ask.of(newKey()).unit("u1"));
		provider().fail(failed.grant(), "u1", "error", HOUR);
		Holding other = take(Ask.of(failed.key()).unit("u2").attempt(1));
		assertThat(other.attempt()).isEqualTo(1);
		provider().complete(other.grant(), "u2");
		assertThat(take(Ask.of(failed.key()).unit("u1")).attempt()).isEqualTo(2);
	}

	@Test
	void unitThatBeginsInTheFutureOfTheStoreIsTooEarly() {
		Instant ahead = Instant.now().plus(HOUR);
		String key = newKey();
		assertThat(ask(Ask.of(key).unit(RunUnit.beginning("u", ahead, Duration.ofMinutes(1))))).isInstanceOfSatisfying(
				TooEarly.class,
				(early) -> assertThat(early.offset()).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(61)));
		assertThat(provider().lock(key)).isEmpty();
		assertThat(provider().runs(key, 10)).isEmpty();
		Holding tolerated = take(Ask.of(key).unit(RunUnit.beginning("u", ahead, HOUR.multipliedBy(2))));
		assertThat(tolerated.attempt()).isEqualTo(1);
		provider().release(key, tolerated.nonce(), false);
		take(Ask.of(key).unit(RunUnit.beginning("u", Instant.now().minus(HOUR), Duration.ZERO)));
	}

	@Test
	void theFirstAnswerThatHoldsIsGiven() {
		String key = newKey();
		RunUnit ahead = RunUnit.beginning("u", Instant.now().plus(HOUR), Duration.ZERO);
		Holding holding = take(Ask.of(key).unit("u"));
		// too early before granted again and before held
		assertThat(ask(Ask.of(key).unit(ahead).nonce(holding.nonce()))).isInstanceOf(TooEarly.class);
		assertThat(ask(Ask.of(key).unit(ahead))).isInstanceOf(TooEarly.class);
		// granted again before the attempt
		assertThat(ask(Ask.of(key).unit("u").attempt(7).nonce(holding.nonce()))).isInstanceOf(Granted.class);
		provider().fail(holding.grant(), "u", "error", HOUR);
		// stale before not yet, and too early before stale
		assertThat(ask(Ask.of(key).unit("u").attempt(2).nonce(holding.nonce()))).isEqualTo(new Stale());
		assertThat(ask(Ask.of(key).unit(ahead).nonce(holding.nonce()))).isInstanceOf(TooEarly.class);
		// stale before held, held before not yet
		Holding another = take(Ask.of(key).unit("another"));
		String late = Ask.newNonce();
		provider().release(key, late, false);
		assertThat(ask(Ask.of(key).unit("u").nonce(late))).isEqualTo(new Stale());
		assertThat(ask(Ask.of(key).unit("u").attempt(2))).isInstanceOf(Held.class);
		provider().complete(another.grant(), "another");
		// done before too early and before stale
		Holding last = done(key, "u");
		assertThat(ask(Ask.of(key).unit(ahead))).isInstanceOf(Done.class);
		assertThat(ask(Ask.of(key).unit("u").nonce(last.nonce()))).isInstanceOf(Done.class);
		assertThat(ask(Ask.of(key).unit("u").nonce(late))).isInstanceOf(Done.class);
	}

	@Test
	void rollingUnitIsDoneOnlyWithinItsPeriod() {
		String key = newKey();
		Holding first = take(Ask.of(key).unit(RunUnit.rolling(HOUR)));
		String unit = first.request().unit().id();
		Duration period = Duration.ofMillis(300);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> provider().lock(key).orElseThrow().heldFor().compareTo(period) > 0);
		provider().complete(first.grant(), unit);
		assertThat(ask(Ask.of(key).unit(RunUnit.rolling(HOUR)))).isInstanceOf(Done.class);
		// counted from the start of the success
		Holding second = take(Ask.of(key).unit(RunUnit.rolling(period)).attempt(1));
		assertThat(second.attempt()).isEqualTo(1);
		assertThat(second.doubt()).isNull();
		provider().complete(second.grant(), unit);
		assertThat(ask(Ask.of(key).unit(RunUnit.rolling(HOUR)))).isInstanceOfSatisfying(Done.class,
				(done) -> assertThat(done.record().token()).isEqualTo(second.token()));
		assertThat(provider().runs(key, 10)).hasSize(1);
	}

	@Test
	void runsAreListedLatestFirstAndBounded() {
		String key = newKey();
		for (int i = 1; i <= 4; i++) {
			done(key, "u" + i);
		}
		assertThat(provider().runs(key, 10)).extracting(RunRecord::unit).containsExactly("u4", "u3", "u2", "u1");
		assertThat(other().runs(key, 2)).extracting(RunRecord::unit).containsExactly("u4", "u3");
		assertThat(provider().runs(newKey(), 2)).isEmpty();
	}

	final Holding done(String key, String unit) {
		Holding holding = take(Ask.of(key).unit(unit));
		assertThat(provider().complete(holding.grant(), unit)).isEqualTo(Settlement.SETTLED);
		return holding;
	}

}
