package io.mutex;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.Stale;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.assertj.core.api.Assumptions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about keys that several may hold at once: by a number of
 * permits, or as readers beside one writer.
 */
abstract class SharingContract extends ListingContract {

	@Test
	void readersHoldTogetherEachWithAHigherToken() {
		String key = newKey();
		List<Holding> readers = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			readers.add(take((i % 2 == 0) ? provider() : other(), Ask.of(key).shared()));
		}
		assertThat(readers).extracting(Holding::token).isSorted().doesNotHaveDuplicates();
		assertThat(ask(Ask.of(key))).isInstanceOf(Held.class);
		for (Holding reader : readers) {
			assertThat(ask(Ask.of(key))).isInstanceOf(Held.class);
			assertThat(other().renew(List.of(reader.grant()))).containsExactly(Renewal.RENEWED);
			assertThat(provider().release(key, reader.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(other().renew(List.of(reader.grant()))).containsExactly(Renewal.LOST);
		}
		Holding writer = take(other(), Ask.of(key));
		assertThat(writer.token()).isGreaterThan(readers.get(4).token());
		assertHeldBy(writer);
	}

	@Test
	void writerKeepsReadersOut() {
		Holding writer = take(Ask.of(newKey()));
		assertThat(ask(Ask.of(writer.key()).shared())).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.holder()).isEqualTo(writer.request().owner()));
		assertThat(ask(Ask.of(writer.key()).permits(3))).isInstanceOf(Held.class);
		provider().release(writer.key(), writer.nonce(), true);
		assertThat(take(other(), Ask.of(writer.key()).shared()).token()).isGreaterThan(writer.token());
	}

	@Test
	void asManyHoldAsThereArePermits() {
		String key = newKey();
		Holding first = take(Ask.of(key).permits(3));
		Holding second = take(other(), Ask.of(key).permits(3));
		Holding third = take(Ask.of(key).permits(3));
		assertThat(ask(Ask.of(key).permits(3))).isInstanceOf(Held.class);
		assertThat(ask(Ask.of(key).permits(2))).isInstanceOf(Held.class);
		assertThat(other().release(key, second.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(ask(Ask.of(key))).isInstanceOf(Held.class);
		assertThat(ask(Ask.of(key).permits(2))).isInstanceOf(Held.class);
		Holding fourth = take(other(), Ask.of(key).permits(3));
		assertThat(fourth.token()).isGreaterThan(third.token());
		assertThat(provider().renew(List.of(first.grant(), second.grant(), third.grant(), fourth.grant())))
			.containsExactly(Renewal.RENEWED, Renewal.LOST, Renewal.RENEWED, Renewal.RENEWED);
	}

	@Test
	void remainingTimeOfSeveralHolders() throws Exception {
		assumeLeasesExpire();
		String key = newKey();
		Duration minute = Duration.ofMinutes(1);
		take(Ask.of(key).permits(2).ttl(minute));
		take(Ask.of(key).permits(2).ttl(minute.multipliedBy(9)));
		assertThat(ask(Ask.of(key).permits(2))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.remaining()).isBetween(Duration.ofMillis(1), minute));
		assertThat(ask(Ask.of(key))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.remaining()).isBetween(minute.multipliedBy(3), minute.multipliedBy(9)));
	}

	@Test
	void sharedAcquisitionMayBeRepeatedUntilItsRelease() {
		Holding one = take(Ask.of(newKey()).permits(2));
		Holding two = take(Ask.of(one.key()).permits(2));
		assertThat(provider().acquire(one.request())).isEqualTo(one.granted());
		assertThat(other().acquire(two.request())).isEqualTo(two.granted());
		assertThat(provider().release(one.key(), one.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(other().acquire(one.request())).isEqualTo(new Stale());
		assertThat(provider().release(one.key(), one.nonce(), true)).isNotNull();
		assertThat(other().acquire(one.request())).isEqualTo(new Stale());
		assertThat(other().renew(List.of(two.grant()))).containsExactly(Renewal.RENEWED);
	}

	@Test
	void releaseOfANonceThatWasNeverSeenStopsALateReader() {
		Holding reader = take(Ask.of(newKey()).shared());
		AcquireRequest late = Ask.of(reader.key()).shared().request();
		assertThat(other().release(late.key(), late.nonce(), false)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().acquire(late)).isEqualTo(new Stale());
		assertThat(provider().renew(List.of(reader.grant()))).containsExactly(Renewal.RENEWED);
	}

	@Test
	void deadReaderIsInNobodysWay() throws Exception {
		assumeLeasesExpire();
		String key = newKey();
		Holding dead = take(Ask.of(key).permits(2).ttl(SHORT));
		Holding alive = take(Ask.of(key).permits(2));
		Duration wait = Duration.ofMillis(20);
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(wait)
			.until(() -> ask(Ask.of(key).permits(2)) instanceof Granted);
		assertThat(provider().renew(List.of(dead.grant(), alive.grant()))).containsExactly(Renewal.LOST,
				Renewal.RENEWED);
		assertThat(provider().acquire(dead.request())).isNotInstanceOf(Granted.class);
		Holding last = take(Ask.of(newKey()).shared().ttl(SHORT));
		awaitFree(last.key());
		Holding writer = take(other(), Ask.of(last.key()));
		assertThat(provider().release(last.key(), last.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertHeldBy(writer);
	}

	@Test
	void renewalOfAReaderHoldsOffAWriter() throws Exception {
		assumeLeasesExpire();
		Holding reader = take(Ask.of(newKey()).shared().ttl(Duration.ofMinutes(1)));
		Instant end = provider().lock(reader.key()).orElseThrow().expiresAt();
		assertThat(other().renew(List.of(new LockProvider.Grant(reader.key(), reader.nonce(), reader.token(),
				Duration.ofHours(1), AcquireRequest.SHARED))))
			.containsExactly(Renewal.RENEWED);
		assertThat(provider().lock(reader.key()).orElseThrow().expiresAt()).isAfter(end);
		assertThat(ask(Ask.of(reader.key()))).isInstanceOfSatisfying(Held.class,
				(held) -> assertThat(held.remaining()).isGreaterThan(Duration.ofMinutes(50)));
	}

	@Test
	void everyHolderIsListed() throws Exception {
		LockProvider store = open("shared-" + this.namespace);
		Holding one = take(store, Ask.of("k").permits(3));
		Holding two = take(store, Ask.of("k").permits(3));
		Holding alone = take(store, Ask.of("l"));
		assertThat(store.locks(10)).extracting(HeldLock::nonce)
			.containsExactlyInAnyOrder(one.nonce(), two.nonce(), alone.nonce());
		assertThat(store.locks(10)).extracting(HeldLock::token)
			.containsExactlyInAnyOrder(one.token(), two.token(), alone.token());
		assertThat(store.locks(1)).hasSize(1);
		store.release("k", one.nonce(), true);
		assertThat(store.locks(10)).extracting(HeldLock::nonce).containsExactlyInAnyOrder(two.nonce(), alone.nonce());
		assertThat(store.lock("k").orElseThrow().nonce()).isEqualTo(two.nonce());
		store.release("k", two.nonce(), true);
		assertThat(store.lock("k")).isEmpty();
	}

	@Test
	void forcedReleaseFreesEveryHolder() {
		Assumptions.assumeThat(freesByForce()).as("this store frees a lock of this process").isTrue();
		Holding one = take(Ask.of(newKey()).shared());
		Holding two = take(Ask.of(one.key()).shared());
		ForcedRelease freed = other().forceRelease(one.key());
		assertThat(freed.result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(freed.token()).isNotNull();
		assertThat(freed.token().value()).isGreaterThan(two.token());
		assertThat(provider().renew(List.of(one.grant(), two.grant()))).containsExactly(Renewal.LOST, Renewal.LOST);
		assertThat(take(Ask.of(one.key())).token()).isGreaterThan(freed.token().value());
	}

	@Test
	void readerThatFollowsADeadRunLeavesItsUnitInDoubt() throws Exception {
		Holding dead = abandon(newKey(), "u");
		Holding reader = take(Ask.of(dead.key()).shared());
		assertThat(reader.token()).isGreaterThan(dead.token());
		assertThat(provider().runs(dead.key(), 10)).extracting(RunRecord::status).containsExactly(Status.IN_DOUBT);
		provider().release(dead.key(), reader.nonce(), true);
		assertThat(take(Ask.of(dead.key()).unit("u")).doubt()).isNotNull();
	}

}
