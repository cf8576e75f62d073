package io.mutex;

import java.time.Duration;

import io.mutex.Acquisition.Done;
import io.mutex.LockProvider.Settlement;
import io.mutex.Reopening.Result;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about units that are opened again, and about the last success.
 */
abstract class ReopenContract extends DoubtContract {

	@Test
	void reopenedUnitRunsOnceMore() {
		Holding done = done(newKey(), "u");
		RunRecord success = provider().runs(done.key(), 1).get(0);
		assertThat(other().reopen(done.key(), "u")).isEqualTo(new Reopening(Result.REOPENED, success, null));
		assertThat(provider().runs(done.key(), 10)).isEmpty();
		assertThat(provider().reopen(done.key(), "u")).isEqualTo(new Reopening(Result.NOTHING, null, null));
		Holding again = take(Ask.of(done.key()).unit("u").attempt(1));
		assertThat(again.token()).isGreaterThan(done.token());
		assertThat(again.attempt()).isEqualTo(1);
		assertThat(again.doubt()).isNull();
		assertThat(provider().complete(again.grant(), "u")).isEqualTo(Settlement.SETTLED);
		assertThat(ask(Ask.of(done.key()).unit("u"))).isInstanceOf(Done.class);
	}

	@Test
	void reopeningRemovesAFailureAndItsDelay() {
		Holding failed = take(Ask.of(newKey()).unit("u"));
		provider().fail(failed.grant(), "u", "error", Duration.ofHours(1));
		assertThat(provider().reopen(failed.key(), "u")).satisfies((reopened) -> {
			assertThat(reopened.result()).isEqualTo(Result.REOPENED);
			assertThat(reopened.removed().status()).isEqualTo(Status.FAILED);
			assertThat(reopened.removed().error()).isEqualTo("error");
		});
		assertThat(take(Ask.of(failed.key()).unit("u").attempt(1)).attempt()).isEqualTo(1);
	}

	@Test
	void reopeningRemovesAStoredDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding skipped = take(Ask.of(dead.key()).unit("u"));
		provider().release(dead.key(), skipped.nonce(), false);
		assertThat(provider().reopen(dead.key(), "u").removed().status()).isEqualTo(Status.IN_DOUBT);
		assertThat(take(Ask.of(dead.key()).unit("u").attempt(1)).doubt()).isNull();
	}

	@Test
	void reopeningRemovesTheDoubtOfARunThatHasJustDied() throws Exception {
		Holding dead = abandon(newKey(), "u");
		assertThat(other().reopen(dead.key(), "u")).satisfies((reopened) -> {
			assertThat(reopened.result()).isEqualTo(Result.REOPENED);
			assertThat(reopened.removed().status()).isEqualTo(Status.IN_DOUBT);
			assertThat(reopened.removed().token()).isEqualTo(dead.token());
		});
		assertThat(provider().complete(dead.grant(), "u")).isEqualTo(Settlement.NOT_OWNER);
		Holding next = take(Ask.of(dead.key()).unit("u").attempt(1));
		assertThat(next.doubt()).isNull();
		assertThat(next.token()).isGreaterThan(dead.token());
	}

	@Test
	void unitThatRunsIsNotReopened() {
		Holding failed = take(Ask.of(newKey()).unit("u"));
		provider().fail(failed.grant(), "u", "error", Duration.ZERO);
		Holding running = take(Ask.of(failed.key()).unit("u"));
		assertThat(other().reopen(running.key(), "u")).satisfies((refused) -> {
			assertThat(refused.result()).isEqualTo(Result.HELD);
			assertThat(refused.removed()).isNull();
			assertThat(refused.holder().token()).isEqualTo(running.token());
		});
		assertHeldBy(running);
		provider().release(running.key(), running.nonce(), false);
		assertThat(provider().runs(running.key(), 1)).singleElement()
			.satisfies((run) -> assertThat(run.status()).isEqualTo(Status.FAILED));
	}

	@Test
	void unitIsReopenedBesideARunOfAnother() {
		Holding done = done(newKey(), "u1");
		Holding running = take(Ask.of(done.key()).unit("u2"));
		assertThat(other().reopen(done.key(), "u1").result()).isEqualTo(Result.REOPENED);
		assertHeldBy(running);
		assertThat(provider().complete(running.grant(), "u2")).isEqualTo(Settlement.SETTLED);
		assertThat(take(Ask.of(done.key()).unit("u1").attempt(1)).doubt()).isNull();
	}

	@Test
	void reopeningAnUnknownUnitChangesNothing() {
		String key = newKey();
		assertThat(provider().reopen(key, "u")).isEqualTo(new Reopening(Result.NOTHING, null, null));
		Holding done = done(key, "u1");
		assertThat(provider().reopen(key, "u2").result()).isEqualTo(Result.NOTHING);
		assertThat(provider().runs(key, 10)).extracting(RunRecord::token).containsExactly(done.token());
	}

	@Test
	void olderUnitsAreReopenedToo() {
		String key = newKey();
		for (int i = 0; i < 30; i++) {
			done(key, "u" + i);
		}
		for (int i = 0; i < 30; i += 29) {
			String unit = "u" + i;
			assertThat(provider().reopen(key, unit).removed().unit()).isEqualTo(unit);
			assertThat(provider().runs(key, 100)).extracting(RunRecord::unit).doesNotContain(unit);
			assertThat(take(Ask.of(key).unit(unit)).doubt()).isNull();
			provider().release(key, provider().lock(key).orElseThrow().nonce(), false);
		}
		assertThat(provider().runs(key, 100)).hasSize(28);
	}

	@Test
	void rollingUnitIsReopened() {
		String key = newKey();
		Holding done = take(Ask.of(key).unit(RunUnit.rolling(Duration.ofHours(1))));
		String unit = done.request().unit().id();
		provider().complete(done.grant(), unit);
		assertThat(provider().reopen(key, unit).result()).isEqualTo(Result.REOPENED);
		take(Ask.of(key).unit(RunUnit.rolling(Duration.ofHours(1))));
	}

	@Test
	void lastSuccessIsFoundBehindFailures() throws Exception {
		String key = newKey();
		assertThat(provider().lastSuccess(key)).isEmpty();
		done(key, "u1");
		Holding latest = done(key, "u2");
		for (int i = 3; i < 6; i++) {
			Holding failed = take(Ask.of(key).unit("u" + i));
			provider().fail(failed.grant(), "u" + i, "error", Duration.ZERO);
		}
		abandon(key, "u6");
		assertThat(other().lastSuccess(key)).hasValueSatisfying((success) -> {
			assertThat(success.unit()).isEqualTo("u2");
			assertThat(success.token()).isEqualTo(latest.token());
			assertThat(success.key()).isEqualTo(key);
		});
		assertThat(provider().runs(key, 2)).extracting(RunRecord::unit).containsExactly("u5", "u4");
	}

	@Test
	void successThatWasReopenedIsNotTheLast() {
		String key = newKey();
		done(key, "u1");
		done(key, "u2");
		provider().reopen(key, "u2");
		assertThat(provider().lastSuccess(key)).map(RunRecord::unit).hasValue("u1");
		provider().reopen(key, "u1");
		assertThat(provider().lastSuccess(key)).isEmpty();
	}

}
