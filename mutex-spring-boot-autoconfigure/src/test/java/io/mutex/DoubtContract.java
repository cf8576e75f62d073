package io.mutex;

import java.time.Duration;
import java.util.List;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.NotYet;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about units in doubt.
 */
abstract class DoubtContract extends RunContract {

	@Test
	void takeOverOfTheSameUnitIsGrantedWithItsDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding next = take(Ask.of(dead.key()).unit("u"));
		assertThat(next.token()).isGreaterThan(dead.token());
		assertInDoubt(next, dead, 1);
		assertThat(provider().acquire(next.request())).isEqualTo(next.granted());
		assertThat(provider().runs(dead.key(), 10)).containsExactly(next.doubt());
	}

	@Test
	void takeOverByAnotherUnitLeavesTheFormerInDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u1");
		Holding between = take(Ask.of(dead.key()).unit("u2"));
		assertThat(between.attempt()).isEqualTo(1);
		assertThat(between.doubt()).isNull();
		assertThat(provider().complete(between.grant(), "u2")).isEqualTo(Settlement.SETTLED);
		assertInDoubt(take(Ask.of(dead.key()).unit("u1")), dead, 1);
	}

	@Test
	void takeOverWithoutAUnitLeavesTheFormerInDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding between = take(Ask.of(dead.key()));
		provider().release(between.key(), between.nonce(), true);
		assertInDoubt(take(Ask.of(dead.key()).unit("u")), dead, 1);
	}

	@Test
	void deathWithoutAUnitLeavesNoDoubt() throws Exception {
		Holding dead = abandon(newKey(), null);
		Holding next = take(Ask.of(dead.key()).unit("u").attempt(1));
		assertThat(next.doubt()).isNull();
		assertThat(next.attempt()).isEqualTo(1);
		assertThat(provider().runs(dead.key(), 10)).isEmpty();
	}

	@Test
	void attemptsCountOverFailuresAndDoubt() throws Exception {
		String key = newKey();
		for (int attempt = 1; attempt <= 2; attempt++) {
			Holding failed = take(Ask.of(key).unit("u").attempt(attempt));
			provider().fail(failed.grant(), "u", "error", Duration.ZERO);
		}
		Holding dead = abandon(key, "u");
		assertThat(dead.attempt()).isEqualTo(3);
		assertThat(ask(Ask.of(key).unit("u").attempt(3))).isInstanceOfSatisfying(NotYet.class, (notYet) -> {
			assertThat(notYet.last().attempt()).isEqualTo(3);
			assertThat(notYet.last().status()).isEqualTo(Status.IN_DOUBT);
			assertThat(notYet.remaining()).isZero();
		});
		Holding next = take(Ask.of(key).unit("u").attempt(4));
		assertInDoubt(next, dead, 3);
		assertThat(provider().complete(next.grant(), "u")).isEqualTo(Settlement.SETTLED);
		assertThat(ask(Ask.of(key).unit("u"))).isInstanceOfSatisfying(Done.class,
				(done) -> assertThat(done.record().attempt()).isEqualTo(4));
	}

	@Test
	void releaseBeforeTheBodyRestoresAttemptAndFailure() {
		Holding failed = take(Ask.of(newKey()).unit("u"));
		provider().fail(failed.grant(), "u", "error", Duration.ZERO);
		List<RunRecord> runs = provider().runs(failed.key(), 10);
		for (int i = 0; i < 2; i++) {
			Holding skipped = take(Ask.of(failed.key()).unit("u").attempt(2));
			assertThat(skipped.doubt()).isNull();
			assertThat(provider().release(failed.key(), skipped.nonce(), false)).isEqualTo(Settlement.SETTLED);
			assertThat(provider().runs(failed.key(), 10)).isEqualTo(runs);
		}
	}

	@Test
	void releaseBeforeTheBodyOfAFirstAttemptLeavesNothing() {
		Holding skipped = take(Ask.of(newKey()).unit("u"));
		provider().release(skipped.key(), skipped.nonce(), false);
		assertThat(provider().runs(skipped.key(), 10)).isEmpty();
		Holding next = take(Ask.of(skipped.key()).unit("u").attempt(1));
		assertThat(next.attempt()).isEqualTo(1);
		assertThat(next.doubt()).isNull();
	}

	@Test
	void doubtSurvivesASkip() throws Exception {
		Holding dead = abandon(newKey(), "u");
		for (int i = 0; i < 2; i++) {
			Holding skipped = take(Ask.of(dead.key()).unit("u"));
			assertInDoubt(skipped, dead, 1);
			provider().release(dead.key(), skipped.nonce(), false);
		}
		assertInDoubt(take(Ask.of(dead.key()).unit("u").attempt(2)), dead, 1);
	}

	@Test
	void begunRunThatIsReleasedWithoutAnOutcomeIsInDoubt() {
		Holding begun = take(Ask.of(newKey()).unit("u"));
		assertThat(provider().release(begun.key(), begun.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(provider().runs(begun.key(), 10)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.IN_DOUBT));
		assertInDoubt(take(Ask.of(begun.key()).unit("u").attempt(2)), begun, 1);
	}

	@Test
	void releaseAfterTheEndOfTheLeaseLeavesTheDoubt() throws Exception {
		assumeLeasesExpire();
		Holding late = abandon(newKey(), "u");
		provider().release(late.key(), late.nonce(), true);
		assertInDoubt(take(Ask.of(late.key()).unit("u")), late, 1);
	}

	@Test
	void releaseAfterATakeOverLeavesTheDoubt() throws Exception {
		Holding late = abandon(newKey(), "u1");
		Holding next = take(Ask.of(late.key()).unit("u2"));
		provider().release(late.key(), late.nonce(), false);
		provider().complete(next.grant(), "u2");
		assertInDoubt(take(Ask.of(late.key()).unit("u1")), late, 1);
	}

	@Test
	void forcedReleaseLeavesTheUnitInDoubt() throws Exception {
		assumeFreedByForce();
		Holding dead = abandon(newKey(), "u");
		Holding forced = take(Ask.of(dead.key()).unit("u"));
		assertInDoubt(forced, dead, 1);
		provider().forceRelease(dead.key());
		provider().release(dead.key(), forced.nonce(), false);
		assertInDoubt(take(Ask.of(dead.key()).unit("u").attempt(3)), forced, 2);
	}

	@Test
	void completionRemovesTheDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding next = take(Ask.of(dead.key()).unit("u"));
		assertThat(provider().complete(next.grant(), "u")).isEqualTo(Settlement.SETTLED);
		assertThat(provider().runs(dead.key(), 10)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.DONE));
		assertThat(ask(Ask.of(dead.key()).unit("u"))).isInstanceOf(Done.class);
	}

	@Test
	void failureRemovesTheDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding next = take(Ask.of(dead.key()).unit("u"));
		provider().fail(next.grant(), "u", "error", Duration.ZERO);
		Holding last = take(Ask.of(dead.key()).unit("u").attempt(3));
		assertThat(last.doubt()).isNull();
		assertThat(last.attempt()).isEqualTo(3);
	}

	private static void assertInDoubt(Holding holding, Holding dead, int attempt) {
		assertThat(holding.doubt()).isNotNull();
		assertThat(holding.doubt().status()).isEqualTo(Status.IN_DOUBT);
		assertThat(holding.doubt().unit()).isEqualTo(dead.request().unit().id());
		assertThat(holding.doubt().token()).isEqualTo(dead.token());
		assertThat(holding.doubt().owner()).isEqualTo(dead.request().owner());
		assertThat(holding.doubt().attempt()).isEqualTo(attempt);
		assertThat(holding.attempt()).isEqualTo(attempt + 1);
	}

}
