package io.mutex;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.assertj.core.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about what is forgotten, each test in a namespace of its own.
 */
abstract class RetentionContract extends ReopenContract {

	private static final Duration KEPT = Duration.ofDays(2);

	private static final String KEY = "job";

	private String aging = "";

	@BeforeEach
	void useANewNamespace(TestInfo test) {
		this.aging = "ns-" + UUID.randomUUID();
	}

	@Test
	void runsAreForgottenWhenTheirTimeIsOver() throws Exception {
		LockProvider store = agingStore();
		done(store, Ask.of(KEY).unit(kept("u1")));
		pass(Duration.ofDays(1));
		done(store, Ask.of(KEY).unit(kept("u2")));
		assertThat(purge(store)).isZero();
		pass(Duration.ofDays(1).plusMinutes(1));
		assertThat(purge(store)).isOne();
		assertThat(store.runs(KEY, 10)).extracting(RunRecord::unit).containsExactly("u2");
		pass(Duration.ofDays(1));
		assertThat(purge(store)).as("the run and the key").isEqualTo(2);
		assertThat(store.runs(KEY, 10)).isEmpty();
		assertThat(store.acquire(Ask.of(KEY).unit(kept("u2")).request())).isInstanceOf(Granted.class);
	}

	@Test
	void runsStayUntilTheirUnitIsOver() throws Exception {
		LockProvider store = agingStore();
		RunUnit unit = kept("2026").keptUntil(Instant.now().plus(Duration.ofDays(200)));
		done(store, Ask.of(KEY).unit(unit));
		pass(Duration.ofDays(199));
		assertThat(purge(store)).isZero();
		assertThat(store.acquire(Ask.of(KEY).unit(unit).request())).isInstanceOf(Done.class);
		pass(Duration.ofDays(2));
		assertThat(purge(store)).isEqualTo(2);
	}

	@Test
	void unitsThatAreDoneForEverStay() throws Exception {
		LockProvider store = agingStore();
		done(store, Ask.of(KEY).unit("u1"));
		done(store, Ask.of(KEY).unit("u2"));
		pass(Duration.ofDays(9000));
		assertThat(purge(store)).isZero();
		assertThat(store.acquire(Ask.of(KEY).unit("u1").request())).isInstanceOf(Done.class);
	}

	@Test
	void newestRunAndLatestSuccessOfAConstantKeyStay() throws Exception {
		LockProvider store = agingStore();
		done(store, Ask.of(KEY).name(KEY).unit(kept("u1")));
		done(store, Ask.of(KEY).name(KEY).unit(kept("u2")));
		fail(store, Ask.of(KEY).name(KEY).unit(kept("u3")));
		fail(store, Ask.of(KEY).name(KEY).unit(kept("u4")));
		pass(Duration.ofDays(1000));
		assertThat(purge(store)).isEqualTo(2);
		assertThat(store.runs(KEY, 10)).extracting(RunRecord::unit).containsExactly("u4", "u2");
		pass(Duration.ofDays(1000));
		assertThat(purge(store)).isZero();
		assertThat(store.lastSuccess(KEY)).map(RunRecord::unit).hasValue("u2");
		done(store, Ask.of(KEY).name(KEY).unit(kept("u5")));
		pass(Duration.ofDays(1000));
		assertThat(purge(store)).isEqualTo(2);
		assertThat(store.runs(KEY, 10)).extracting(RunRecord::unit).containsExactly("u5");
	}

	@Test
	void nothingOfAUnitThatSomebodyHoldsIsForgotten() throws Exception {
		LockProvider store = agingStore();
		fail(store, Ask.of(KEY).unit(kept("u")));
		pass(Duration.ofDays(3));
		Holding holding = take(store, Ask.of(KEY).unit(kept("u")));
		assertThat(holding.attempt()).isEqualTo(2);
		assertThat(purge(store)).isZero();
		assertThat(store.release(KEY, holding.nonce(), false)).isEqualTo(Settlement.SETTLED);
		assertThat(store.runs(KEY, 10)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.FAILED));
	}

	@Test
	void otherUnitsOfAKeyThatIsHeldAreForgotten() throws Exception {
		LockProvider store = agingStore();
		Assumptions.assumeThat(store.expires()).as("a held key is passed over").isTrue();
		done(store, Ask.of(KEY).unit(kept("u1")));
		pass(Duration.ofDays(3));
		Holding holding = take(store, Ask.of(KEY).unit(kept("u2")));
		assertThat(purge(store)).isOne();
		assertThat(store.renew(List.of(holding.grant()))).containsExactly(LockProvider.Renewal.RENEWED);
		assertThat(store.complete(holding.grant(), "u2")).isEqualTo(Settlement.SETTLED);
		assertThat(store.runs(KEY, 10)).extracting(RunRecord::unit).containsExactly("u2");
	}

	@Test
	void doubtStaysAsLongAsARecord() throws Exception {
		LockProvider store = agingStore();
		assumeLeasesExpire();
		take(store, Ask.of(KEY).unit(kept("u")));
		pass(Duration.ofDays(1));
		assertThat(purge(store)).isZero();
		assertThat(store.acquire(Ask.of(KEY).unit(kept("u")).request())).isInstanceOfSatisfying(Granted.class,
				(granted) -> assertThat(granted.doubt()).isNotNull());
		pass(Duration.ofDays(1));
		assertThat(purge(store)).as("the second died too, a day later").isZero();
		assertThat(store.runs(KEY, 10)).hasSize(1);
		pass(Duration.ofDays(10));
		assertThat(purge(store)).isPositive();
		assertThat(take(store, Ask.of(KEY).unit(kept("u"))).attempt()).isEqualTo(1);
	}

	@Test
	@DisplayName("C143 keys that are no longer used are forgotten, and their tokens still rise")
	void idleKeysAreForgotten() throws Exception {
		LockProvider store = agingStore();
		Holding first = take(store, Ask.of("a"));
		store.release("a", first.nonce(), true);
		Holding late = take(store, Ask.of("b"));
		store.release("b", late.nonce(), true);
		pass(KEPT);
		Holding recent = take(store, Ask.of("b"));
		store.release("b", recent.nonce(), true);
		Holding held = take(store, Ask.of("c"));
		pass(Duration.ofMinutes(1));
		assertThat(purge(store)).isOne();
		assertThat(store.complete(late.grant(), "u")).isEqualTo(Settlement.NOT_OWNER);
		Holding again = take(store, Ask.of("a"));
		assertThat(again.token()).isGreaterThan(first.token());
		assertThat(store.lock("c").isPresent() || store.expires()).isTrue();
		assertThat(held.token()).isPositive();
	}

	@Test
	void tokenAheadOfTheClockIsNotForgotten() throws Exception {
		LockProvider store = agingStore();
		long ahead = Instant.now().plus(Duration.ofDays(1000)).toEpochMilli() * 1000;
		Holding first = take(store, Ask.of("a").floor(ahead));
		store.release("a", first.nonce(), true);
		pass(KEPT.plusDays(1));
		assertThat(purge(store)).isZero();
		assertThat(take(store, Ask.of("a")).token()).isGreaterThan(first.token());
	}

	@Test
	@DisplayName("C48 a clock that is set back opens no unit, and what lies ahead blocks no other")
	void clockThatIsSetBackOpensNoUnit() throws Exception {
		LockProvider store = agingStore();
		done(store, Ask.of(KEY).unit(kept("D")));
		pass(Duration.ofMinutes(1));
		done(store, Ask.of(KEY).unit(kept("D+1")));
		Holding held = take(store, Ask.of("held"));
		pass(Duration.ofMinutes(-5));
		assertThat(purge(store)).isZero();
		assertThat(store.acquire(Ask.of(KEY).unit(kept("D")).request())).isInstanceOf(Done.class);
		assertThat(store.acquire(Ask.of(KEY).unit(kept("D+1")).request())).isInstanceOf(Done.class);
		assertThat(store.lock("held")).hasValueSatisfying((lock) -> assertThat(lock.nonce()).isEqualTo(held.nonce()));
		Holding other = take(store, Ask.of(KEY).unit(kept("D-1")));
		assertThat(store.complete(other.grant(), "D-1")).isEqualTo(Settlement.SETTLED);
		pass(Duration.ofMinutes(5));
		assertThat(store.acquire(Ask.of(KEY).unit(kept("D")).request())).isInstanceOf(Done.class);
		assertThat(store.acquire(Ask.of(KEY).unit(kept("D+1")).request())).isInstanceOf(Done.class);
	}

	@Test
	void batchesAreBounded() throws Exception {
		LockProvider store = agingStore();
		for (int i = 0; i < 7; i++) {
			done(store, Ask.of("job-" + i).unit(kept("u" + i)));
		}
		pass(KEPT.plusMinutes(1));
		int batches = 0;
		int removed = 0;
		String after = null;
		do {
			Purged batch = store.purge(KEPT, after, 2);
			assertThat(batch.removed()).isLessThanOrEqualTo(4);
			removed += batch.removed();
			after = batch.next();
			batches++;
		}
		while (after != null && batches < 100);
		assertThat(removed).isEqualTo(14);
		assertThat(batches).isBetween(3, 20);
	}

	private LockProvider agingStore() throws Exception {
		LockProvider store = open(this.aging);
		pass(Duration.ZERO);
		return store;
	}

	private void pass(Duration time) throws Exception {
		Assumptions.assumeThat(letPass(this.aging, time)).as("time can be made to pass in this store").isTrue();
	}

	private static int purge(LockProvider store) {
		int removed = 0;
		Purged batch = new Purged(0, null);
		do {
			batch = store.purge(KEPT, batch.next(), 100);
			removed += batch.removed();
		}
		while (batch.next() != null);
		return removed;
	}

	private static RunUnit kept(String unit) {
		return RunUnit.of(unit).keptFor(KEPT);
	}

	private static void done(LockProvider store, Ask ask) {
		Holding holding = take(store, ask);
		assertThat(store.complete(holding.grant(), holding.request().unit().id())).isEqualTo(Settlement.SETTLED);
	}

	private static void fail(LockProvider store, Ask ask) {
		Holding holding = take(store, ask);
		assertThat(store.fail(holding.grant(), holding.request().unit().id(), "error", Duration.ZERO))
			.isEqualTo(Settlement.SETTLED);
	}

}
