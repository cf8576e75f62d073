package io.mutex.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.Stale;
import io.mutex.HeldLock;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the {@link StoreProtocol} of keys with several holders and a next one, at
 * exact times.
 */
class SharingTests {

	private static final long NOW = 1_000_000_000L;

	private static final long TTL = 10_000;

	private static final Owner OWNER = new Owner("pod-1", "host-1", 1, "main");

	private static final String A = "a".repeat(32);

	private static final String B = "b".repeat(32);

	private static final String C = "c".repeat(32);

	private static final String W = "d".repeat(32);

	private static final String V = "e".repeat(32);

	private @Nullable LockRow lock;

	private List<LockRow> shared = List.of();

	private @Nullable RunRow run;

	@Test
	void everyGrantRaisesTokenAndVersionOfTheKey() {
		assertThat(acquire(readers(A, 3), NOW)).isEqualTo(new Granted(NOW, NOW, 0, null));
		long version = key().version();
		assertThat(acquire(readers(B, 3), NOW)).isEqualTo(new Granted(NOW + 1, NOW + 1, 0, null));
		assertThat(key().version()).isGreaterThan(version);
		assertThat(key().token()).isEqualTo(NOW + 1);
		version = key().version();
		assertThat(renew(A, NOW, TTL, NOW)).isEqualTo(Renewal.RENEWED);
		assertThat(key().version()).as("after a renewal").isGreaterThan(version);
		version = key().version();
		release(A, NOW);
		assertThat(key().version()).as("after a release").isGreaterThan(version);
	}

	@Test
	void keyIsSharedUntilTheLastLeaseEnds() {
		acquire(readers(A, 3, TTL), NOW);
		acquire(readers(B, 3, 3 * TTL), NOW);
		assertThat(acquire(alone(C), NOW + 1)).isEqualTo(new Held(OWNER, null, Micros.toDuration(3 * TTL - 1)));
		assertThat(acquire(readers(C, 2), NOW + 1)).isEqualTo(new Held(OWNER, null, Micros.toDuration(TTL - 1)));
		release(B, NOW + 1);
		assertThat(acquire(alone(C), NOW + 1)).isEqualTo(new Held(OWNER, null, Micros.toDuration(TTL - 1)));
		assertThat(acquire(alone(C), NOW + TTL - 1)).isInstanceOf(Held.class);
		assertThat(acquire(alone(C), NOW + TTL)).isInstanceOf(Granted.class);
	}

	@Test
	void renewalOfOneHolderHoldsOffARequestForTheKeyAlone() {
		acquire(readers(A, 2, TTL), NOW);
		LockRow before = key();
		assertThat(renew(A, NOW, 5 * TTL, NOW + TTL - 1)).isEqualTo(Renewal.RENEWED);
		assertThat(key().version()).isGreaterThan(before.version());
		assertThat(key().sharedUntil()).isEqualTo(NOW + 6 * TTL - 1);
		assertThat(renew(A, NOW, TTL, NOW + TTL)).as("never shortens").isEqualTo(Renewal.RENEWED);
		assertThat(key().sharedUntil()).isEqualTo(NOW + 6 * TTL - 1);
		assertThat(renew(A, NOW + 1, TTL, NOW + TTL)).as("another token").isEqualTo(Renewal.LOST);
		assertThat(renew(A, NOW, TTL, NOW + 6 * TTL - 1)).as("an expired lease").isEqualTo(Renewal.LOST);
	}

	@Test
	void nonceIsUsedUpByItsReleaseAndByItsEnd() {
		acquire(readers(A, 3), NOW);
		acquire(readers(B, 3), NOW);
		assertThat(acquire(readers(A, 3), NOW + 1)).isEqualTo(new Granted(NOW, NOW, 0, null));
		assertThat(release(A, NOW)).isEqualTo(Settlement.SETTLED);
		assertThat(release(A, NOW)).as("again").isEqualTo(Settlement.SETTLED);
		assertThat(release(C, NOW)).as("never seen").isEqualTo(Settlement.NOT_OWNER);
		assertThat(release(C, NOW)).as("never seen, again").isEqualTo(Settlement.NOT_OWNER);
		assertThat(acquire(readers(A, 3), NOW)).isEqualTo(new Stale());
		assertThat(acquire(readers(C, 3), NOW)).isEqualTo(new Stale());
		assertThat(acquire(readers(B, 3), NOW + TTL)).as("expired").isEqualTo(new Stale());
		assertThat(acquire(readers(W, 3), NOW + TTL)).isInstanceOf(Granted.class);
		assertThat(this.shared).extracting(LockRow::nonce).containsExactly(W);
		assertThat(acquire(readers(B, 3), NOW + TTL)).as("buried").isEqualTo(new Stale());
		assertThat(release(B, NOW + TTL)).isEqualTo(Settlement.NOT_OWNER);
	}

	@Test
	void whoHadTheKeyAloneSinceEndsAllOthersAlsoIfTheClockGoesBack() {
		acquire(readers(A, 3), NOW);
		acquire(readers(B, 3), NOW);
		assertThat(acquire(alone(C), NOW + TTL)).isInstanceOf(Granted.class);
		long earlier = NOW + 1;
		assertThat(renew(A, NOW, TTL, earlier)).isEqualTo(Renewal.LOST);
		assertThat(holders(earlier)).extracting(HeldLock::nonce).containsExactly(C);
		assertThat(release(C, earlier)).isEqualTo(Settlement.SETTLED);
		assertThat(release(A, earlier)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(acquire(readers(W, 1 + 1), earlier)).isInstanceOf(Granted.class);
		assertThat(holders(earlier)).extracting(HeldLock::nonce).containsExactly(W);
		assertThat(renew(B, NOW + 1, TTL, earlier)).isEqualTo(Renewal.LOST);
	}

	@Test
	void forcedReleaseEndsAll() {
		acquire(readers(A, 3), NOW);
		acquire(readers(B, 3), NOW);
		Transition<ForcedRelease> forced = StoreProtocol.forceRelease("k", this.lock, this.shared, C, NOW);
		store(forced);
		assertThat(forced.answer().result()).isEqualTo(ForcedRelease.Result.RELEASED);
		assertThat(key().token()).isEqualTo(NOW + 2);
		assertThat(holders(NOW)).isEmpty();
		assertThat(acquire(readers(A, 3), NOW)).isEqualTo(new Stale());
		assertThat(renew(B, NOW + 1, TTL, NOW)).isEqualTo(Renewal.LOST);
		assertThat(StoreProtocol.forceRelease("k", this.lock, this.shared, C, NOW).answer().result())
			.isEqualTo(ForcedRelease.Result.NOT_HELD);
	}

	@Test
	void deadRunIsInDoubtAfterAGrantToOneOfSeveralAndCanSettleNothing() {
		acquire(request(A, RunUnit.of("u"), 1, null, TTL), NOW);
		Grant dead = new Grant("k", A, NOW, Micros.toDuration(TTL));
		assertThat(acquire(readers(B, 2), NOW + TTL)).isInstanceOf(Granted.class);
		assertThat(this.run).isNotNull();
		assertThat(this.run.status()).isEqualTo(Status.IN_DOUBT);
		assertThat(StoreProtocol.complete(key(), this.run, dead, "u", NOW + TTL).answer())
			.isEqualTo(Settlement.NOT_OWNER);
		assertThat(release(A, NOW + TTL)).isEqualTo(Settlement.NOT_OWNER);
		assertThat(acquire(alone(A), NOW + TTL)).isEqualTo(new Stale());
		release(B, NOW + TTL);
		assertThat(acquire(request(C, RunUnit.of("u"), 1, null, TTL), NOW + TTL)).isInstanceOfSatisfying(Granted.class,
				(granted) -> assertThat(granted.attempt()).isEqualTo(2));
	}

	@Test
	void placeIsTakenByARefusalAndKeptForItsTime() {
		acquire(alone(A), NOW);
		assertThat(acquire(waiting(B, 1, W), NOW)).isEqualTo(new Held(OWNER, null, Micros.toDuration(TTL)));
		assertThat(key().place()).isEqualTo(new Place(W, NOW + 2 * TTL));
		acquire(waiting(C, 1, V), NOW + 1);
		assertThat(key().place().waiter()).isEqualTo(W);
		acquire(waiting(B, 1, W), NOW + 1);
		assertThat(key().place().until()).isEqualTo(NOW + 1 + 2 * TTL);
		assertThat(key().expiresAt()).as("the lease").isEqualTo(NOW + TTL);
		release(A, NOW + 1);
		assertThat(acquire(waiting(C, 1, V), NOW + 2)).isEqualTo(new Held(null, null, Micros.toDuration(2 * TTL - 1)));
		assertThat(acquire(readers(C, 2), NOW + 2)).isInstanceOf(Held.class);
		assertThat(acquire(waiting(C, 2, V), NOW + 2)).isInstanceOf(Held.class);
		assertThat(acquire(waiting(B, 1, W), NOW + 2)).isInstanceOf(Granted.class);
		assertThat(key().place()).isEqualTo(Place.EMPTY);
	}

	@Test
	void placeThatEndedIsNobodys() {
		acquire(alone(A), NOW);
		acquire(waiting(B, 1, W), NOW);
		release(A, NOW);
		assertThat(acquire(readers(C, 2), NOW + 2 * TTL - 1)).isInstanceOf(Held.class);
		assertThat(acquire(readers(C, 2), NOW + 2 * TTL)).isInstanceOf(Granted.class);
		acquire(waiting("f".repeat(32), 1, V), NOW + 2 * TTL);
		assertThat(key().place().waiter()).isEqualTo(V);
	}

	@Test
	void whoDoesNotWaitLeavesThePlaceToItsWaiter() {
		acquire(alone(A), NOW);
		acquire(waiting(B, 1, W), NOW);
		release(A, NOW);
		assertThat(acquire(alone(C), NOW)).isInstanceOf(Granted.class);
		assertThat(key().place().waiter()).isEqualTo(W);
		release(C, NOW);
		assertThat(acquire(waiting(B, 2, W), NOW)).as("one of several").isInstanceOf(Granted.class);
		assertThat(key().place()).isEqualTo(Place.EMPTY);
	}

	@Test
	void randomStepsKeepWritersAloneAndReadersWithinTheirPermits() {
		for (int seed = 0; seed < 200; seed++) {
			randomSteps(new Random(seed), seed);
		}
	}

	private void randomSteps(Random random, int seed) {
		this.lock = null;
		this.shared = List.of();
		long now = NOW;
		long token = 0;
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			now += random.nextInt(5000) - 500;
			int choice = random.nextInt(8);
			if (choice < 4 || grants.isEmpty()) {
				String nonce = String.format("%032d", i);
				int permits = (choice == 0) ? 1 : 3;
				String waiter = (random.nextInt(3) == 0) ? (random.nextBoolean() ? V : W) : null;
				Acquisition answer = acquire((waiter != null) ? waiting(nonce, permits, waiter)
						: request(nonce, null, permits, null, 1 + random.nextInt(20_000)), now);
				if (answer instanceof Granted granted) {
					assertThat(granted.token()).as("seed %d", seed).isGreaterThan(token);
					token = granted.token();
					grants.add(new Grant("k", nonce, token, Micros.toDuration(TTL), permits));
				}
			}
			else if (choice < 6) {
				Grant grant = grants.get(random.nextInt(grants.size()));
				store(StoreProtocol.renew(this.lock, this.shared, grant, now));
			}
			else {
				release(grants.remove(random.nextInt(grants.size())).nonce(), now);
			}
			List<HeldLock> holders = holders(now);
			boolean writer = key().isHeld(now);
			assertThat(holders).as("seed %d, step %d", seed, i).hasSizeLessThanOrEqualTo(writer ? 1 : 3);
			assertThat(key().sharedUntil() > now).as("seed %d, step %d", seed, i)
				.isEqualTo(!writer && !holders.isEmpty());
		}
	}

	private LockRow key() {
		assertThat(this.lock).isNotNull();
		return this.lock;
	}

	private List<HeldLock> holders(long now) {
		return StoreProtocol.holders("k", this.lock, this.shared, now);
	}

	private Acquisition acquire(AcquireRequest request, long now) {
		return store(StoreProtocol.acquire(this.lock, this.shared, (request.unit() != null) ? this.run : null, request,
				now));
	}

	private Renewal renew(String nonce, long token, long ttl, long now) {
		return store(StoreProtocol.renew(this.lock, this.shared,
				new Grant("k", nonce, token, Micros.toDuration(ttl), AcquireRequest.SHARED), now));
	}

	private Settlement release(String nonce, long now) {
		return store(StoreProtocol.release(this.lock, this.shared, nonce, true, now));
	}

	private <A> A store(Transition<A> transition) {
		this.lock = (transition.lock() != null) ? transition.lock() : this.lock;
		this.shared = (transition.shared() != null) ? transition.shared() : this.shared;
		this.run = (transition.run() != null) ? transition.run() : this.run;
		return transition.answer();
	}

	private static AcquireRequest alone(String nonce) {
		return request(nonce, null, 1, null, TTL);
	}

	private static AcquireRequest readers(String nonce, int permits) {
		return request(nonce, null, permits, null, TTL);
	}

	private static AcquireRequest readers(String nonce, int permits, long ttl) {
		return request(nonce, null, permits, null, ttl);
	}

	private static AcquireRequest waiting(String nonce, int permits, String waiter) {
		return request(nonce, null, permits, new Reservation(waiter, Micros.toDuration(2 * TTL)), TTL);
	}

	private static AcquireRequest request(String nonce, @Nullable RunUnit unit, int permits,
			@Nullable Reservation reservation, long ttl) {
		Duration lease = Micros.toDuration(Math.max(1000, ttl));
		return new AcquireRequest("k", "name", nonce, OWNER, lease, 0, unit, 0, 1, permits, reservation);
	}

}
