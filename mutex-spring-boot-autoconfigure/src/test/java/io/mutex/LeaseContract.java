package io.mutex;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.Stale;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.assertj.core.api.Assumptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about leases: grants, tokens, renewals and releases.
 */
abstract class LeaseContract extends ContractStore {

	/**
	 * Above every token that a clock of this century gives.
	 */
	private static final long FAR = 4_000_000_000_000_000L;

	@Test
	void heldKeyIsAnsweredWithItsHolder() {
		Holding holding = take(Ask.of(newKey()).unit("u"));
		assertThat(ask(Ask.of(holding.key()))).isInstanceOfSatisfying(Held.class, (held) -> {
			assertThat(held.unit()).isEqualTo("u");
			assertThat(held.holder()).isEqualTo(holding.request().owner());
			if (provider().expires()) {
				assertThat(held.remaining()).isBetween(Duration.ofMillis(1), holding.request().ttl());
			}
			else {
				assertThat(held.remaining()).isNull();
			}
		});
		assertHeldBy(holding);
	}

	@Test
	void releasedKeyIsFreeForAnotherWithAHigherToken() {
		Holding holding = take(Ask.of(newKey()));
		assertThat(holding.granted().attempt()).isZero();
		assertThat(provider().release(holding.key(), holding.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(other().lock(holding.key())).isEmpty();
		assertThat(take(other(), Ask.of(holding.key())).token()).isGreaterThan(holding.token());
	}

	@Test
	void releaseMayBeRepeated() {
		Holding holding = take(Ask.of(newKey()));
		assertThat(provider().release(holding.key(), holding.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(provider().release(holding.key(), holding.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(take(Ask.of(holding.key())).token()).isGreaterThan(holding.token());
	}

	@Test
	void retriedAcquisitionGetsTheSameTokensAndNoLongerLease() {
		Holding holding = take(Ask.of(newKey()).tokens(5).unit("u"));
		Instant end = provider().lock(holding.key()).orElseThrow().expiresAt();
		for (int i = 0; i < 3; i++) {
			assertThat(provider().acquire(holding.request())).isEqualTo(holding.granted());
		}
		assertThat(provider().lock(holding.key()).orElseThrow().expiresAt()).isEqualTo(end);
		provider().release(holding.key(), holding.nonce(), false);
		assertThat(take(Ask.of(holding.key()).unit("u")).attempt()).isEqualTo(1);
	}

	@Test
	void severalTokensAreARangeBelowTheNextGrant() {
		Holding holding = take(Ask.of(newKey()).tokens(5).floor(FAR));
		assertThat(holding.granted().firstToken()).isEqualTo(FAR + 1);
		assertThat(holding.token()).isEqualTo(FAR + 5);
		assertHeldBy(holding);
		provider().release(holding.key(), holding.nonce(), true);
		Holding next = take(Ask.of(holding.key()).tokens(3));
		assertThat(next.granted().firstToken()).isEqualTo(FAR + 6);
		assertThat(next.token()).isEqualTo(FAR + 8);
	}

	@Test
	void tokenIsHigherThanTheFloor() {
		String key = newKey();
		assertThat(take(Ask.of(key).floor(FAR)).token()).isEqualTo(FAR + 1);
		assertThat(take(Ask.of(newKey()).floor(1)).token()).isGreaterThan(1);
	}

	@Test
	void tokensBeginAtTheTimeOfTheStore() {
		long now = Instant.now().toEpochMilli() * 1000;
		long hour = Duration.ofHours(1).toMillis() * 1000;
		assertThat(take(Ask.of(newKey())).token()).isBetween(now - hour, now + hour);
	}

	@Test
	void tokensRiseOverReleaseAndExpiry() throws Exception {
		Holding first = take(Ask.of(newKey()).floor(FAR));
		provider().release(first.key(), first.nonce(), true);
		Holding abandoned = abandon(first.key(), null);
		assertThat(abandoned.token()).isEqualTo(first.token() + 1);
		assertThat(take(Ask.of(first.key())).token()).isEqualTo(abandoned.token() + 1);
	}

	@Test
	void tokensRiseOverARestartOfTheStore() throws Exception {
		try (RestartableStore store = startRestartableStore()) {
			Assumptions.assumeThat(store).as("this store keeps its data over a restart").isNotNull();
			assertThat(store).isNotNull();
			Holding before;
			try (LockProvider provider = store.open(this.namespace)) {
				before = take(provider, Ask.of(newKey()).floor(FAR).unit("u"));
				assertThat(provider.complete(before.grant(), "u")).isEqualTo(Settlement.SETTLED);
			}
			store.restart();
			try (LockProvider provider = store.open(this.namespace)) {
				assertThat(provider.acquire(Ask.of(before.key()).unit("u").request()))
					.isInstanceOf(Acquisition.Done.class);
				assertThat(take(provider, Ask.of(before.key())).token()).isGreaterThan(before.token());
			}
		}
	}

	@Test
	void releaseByAnotherChangesNothing() {
		Holding holding = take(Ask.of(newKey()).unit("u"));
		assertThat(other().release(holding.key(), Ask.newNonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertHeldBy(holding);
		assertThat(provider().complete(holding.grant(), "u")).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void renewalByAnotherChangesNothing() {
		Holding holding = take(Ask.of(newKey()));
		Instant end = provider().lock(holding.key()).orElseThrow().expiresAt();
		Duration hour = Duration.ofHours(1);
		assertThat(other().renew(List.of(new Grant(holding.key(), Ask.newNonce(), holding.token(), hour),
				new Grant(holding.key(), holding.nonce(), holding.token() - 1, hour),
				new Grant(newKey(), holding.nonce(), holding.token(), hour))))
			.containsExactly(Renewal.LOST, Renewal.LOST, Renewal.LOST);
		assertThat(provider().lock(holding.key()).orElseThrow().expiresAt()).isEqualTo(end);
		assertHeldBy(holding);
	}

	@Test
	void renewalAfterReleaseIsLost() {
		Holding holding = take(Ask.of(newKey()));
		provider().release(holding.key(), holding.nonce(), true);
		assertThat(provider().renew(List.of(holding.grant()))).containsExactly(Renewal.LOST);
		assertThat(provider().lock(holding.key())).isEmpty();
	}

	@Test
	void lateReleaseLeavesTheNextHolderAlone() throws Exception {
		Holding late = abandon(newKey(), "u1");
		Holding next = take(other(), Ask.of(late.key()).unit("u2"));
		assertThat(provider().release(late.key(), late.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().release(late.key(), late.nonce(), false)).isEqualTo(Settlement.NOT_OWNER);
		assertHeldBy(next);
		assertThat(other().complete(next.grant(), "u2")).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void renewalProlongsAndNeverShortens() {
		assumeLeasesExpire();
		Holding holding = take(Ask.of(newKey()));
		Instant granted = end(holding);
		assertThat(renew(holding, Duration.ofHours(1))).isEqualTo(Renewal.RENEWED);
		Instant prolonged = end(holding);
		assertThat(prolonged).isAfter(granted.plus(Duration.ofMinutes(50)));
		assertThat(renew(holding, Duration.ofMinutes(1))).isEqualTo(Renewal.RENEWED);
		assertThat(end(holding)).isEqualTo(prolonged);
	}

	@Test
	void renewalDoesNotReviveAnExpiredLease() throws Exception {
		assumeLeasesExpire();
		Holding expired = abandon(newKey(), null);
		assertThat(renew(expired, Duration.ofHours(1))).isEqualTo(Renewal.LOST);
		assertThat(provider().lock(expired.key())).isEmpty();
		assertThat(take(other(), Ask.of(expired.key())).token()).isGreaterThan(expired.token());
		assertThat(renew(expired, Duration.ofHours(1))).isEqualTo(Renewal.LOST);
	}

	@Test
	void severalRenewalsAreAnsweredInTheirOrder() {
		List<Grant> grants = new ArrayList<>();
		List<Renewal> expected = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			Holding holding = take(Ask.of(newKey()));
			boolean lost = i % 3 == 0;
			grants.add(lost ? new Grant(holding.key(), Ask.newNonce(), holding.token(), holding.request().ttl())
					: holding.grant());
			expected.add(lost ? Renewal.LOST : Renewal.RENEWED);
		}
		assertThat(provider().renew(grants)).isEqualTo(expected);
		assertThat(provider().renew(List.of())).isEmpty();
	}

	@Test
	void nonceIsUsedUpByItsRelease() {
		Holding holding = take(Ask.of(newKey()));
		provider().release(holding.key(), holding.nonce(), true);
		assertThat(ask(Ask.of(holding.key()).nonce(holding.nonce()))).isEqualTo(new Stale());
		assertThat(provider().lock(holding.key())).isEmpty();
	}

	@Test
	void nonceThatIsReleasedTwiceStaysUsedUpAfterTheNextHolder() {
		Holding holding = take(Ask.of(newKey()));
		for (int i = 0; i < 3; i++) {
			assertThat(provider().release(holding.key(), holding.nonce(), true)).isEqualTo(Settlement.SETTLED);
		}
		Holding next = take(Ask.of(holding.key()));
		provider().release(next.key(), next.nonce(), true);
		assertThat(ask(Ask.of(holding.key()).nonce(holding.nonce()))).isEqualTo(new Stale());
		assertThat(provider().lock(holding.key())).isEmpty();
	}

	@Test
	void nonceIsUsedUpByTheEndOfItsLease() throws Exception {
		assumeLeasesExpire();
		Holding expired = abandon(newKey(), null);
		assertThat(ask(Ask.of(expired.key()).nonce(expired.nonce()))).isEqualTo(new Stale());
		assertThat(provider().lock(expired.key())).isEmpty();
	}

	@Test
	void acquisitionThatArrivesAfterItsReleaseIsStaleOnANewKey() {
		String key = newKey();
		String late = Ask.newNonce();
		assertThat(provider().release(key, late, false)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().release(key, late, true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(ask(Ask.of(key).nonce(late))).isEqualTo(new Stale());
		Holding next = take(Ask.of(key).unit("u"));
		assertThat(next.attempt()).isEqualTo(1);
		assertThat(ask(Ask.of(key).nonce(late))).isEqualTo(new Stale());
		assertHeldBy(next);
		provider().release(key, next.nonce(), false);
		assertThat(ask(Ask.of(key).nonce(late).unit("u"))).isEqualTo(new Stale());
		assertThat(provider().lock(key)).isEmpty();
	}

	@Test
	void acquisitionsThatArriveAfterTheirReleaseAreStaleBesideAHolder() {
		Holding holding = take(Ask.of(newKey()));
		List<String> late = IntStream.range(0, 5).mapToObj((i) -> Ask.newNonce()).toList();
		late.forEach(
				(nonce) -> assertThat(other().release(holding.key(), nonce, true)).isEqualTo(Settlement.NOT_OWNER));
		assertAllStale(holding.key(), late);
		assertHeldBy(holding);
		provider().release(holding.key(), holding.nonce(), true);
		assertAllStale(holding.key(), late);
		assertThat(provider().lock(holding.key())).isEmpty();
	}

	@Test
	void acquisitionsThatArriveAfterTheirReleaseAreStaleOnAFreeKey() {
		Holding former = take(Ask.of(newKey()).unit("u"));
		provider().complete(former.grant(), "u");
		List<String> late = IntStream.range(0, 5).mapToObj((i) -> Ask.newNonce()).toList();
		late.forEach(
				(nonce) -> assertThat(other().release(former.key(), nonce, false)).isEqualTo(Settlement.NOT_OWNER));
		assertAllStale(former.key(), late);
		assertThat(take(Ask.of(former.key())).token()).isGreaterThan(former.token());
		assertAllStale(former.key(), late);
	}

	@Test
	void forcedReleaseFreesTheKeyAndRaisesItsToken() {
		assumeFreedByForce();
		Holding former = take(Ask.of(newKey()).floor(FAR).unit("u"));
		ForcedRelease forced = other().forceRelease(former.key());
		assertThat(forced.result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(forced.holder()).isNotNull();
		assertThat(forced.holder().nonce()).isEqualTo(former.nonce());
		assertThat(forced.holder().token()).isEqualTo(former.token());
		assertThat(provider().lock(former.key())).isEmpty();
		assertThat(provider().renew(List.of(former.grant()))).containsExactly(Renewal.LOST);
		assertThat(provider().complete(former.grant(), "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().fail(former.grant(), "u", "error", Duration.ZERO)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(provider().release(former.key(), former.nonce(), true)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(take(other(), Ask.of(former.key())).granted().firstToken()).isGreaterThan(former.token() + 1);
	}

	@Test
	void forcedReleaseOfAFreeKeyChangesNothing() throws Exception {
		String key = newKey();
		ForcedRelease notHeld = new ForcedRelease(ForcedRelease.Result.NOT_HELD, null, null);
		assertThat(provider().forceRelease(key)).isEqualTo(notHeld);
		Holding abandoned = abandon(key, "u");
		assertThat(provider().forceRelease(key)).isEqualTo(notHeld);
		assertThat(take(Ask.of(key).unit("u")).doubt()).isNotNull()
			.satisfies((doubt) -> assertThat(doubt.token()).isEqualTo(abandoned.token()));
	}

	final void assumeFreedByForce() {
		Assumptions.assumeThat(freesByForce()).as("this store can free a key by force").isTrue();
	}

	private void assertAllStale(String key, List<String> nonces) {
		assertThat(nonces).allSatisfy((nonce) -> assertThat(ask(Ask.of(key).nonce(nonce))).isEqualTo(new Stale()));
	}

	private @Nullable Instant end(Holding holding) {
		return provider().lock(holding.key()).orElseThrow().expiresAt();
	}

	private Renewal renew(Holding holding, Duration ttl) {
		return provider().renew(List.of(new Grant(holding.key(), holding.nonce(), holding.token(), ttl))).get(0);
	}

}
