package io.mutex.protocol;

import java.time.Duration;
import java.time.Instant;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.NotYet;
import io.mutex.Acquisition.Stale;
import io.mutex.Acquisition.TooEarly;
import io.mutex.FencingToken;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@link StoreProtocol} at exact times, where no store has to be waited for.
 */
class StoreProtocolTests {

	private static final long NOW = 1_000_000_000L;

	private static final Duration TTL = Duration.ofMillis(10);

	private static final long END = NOW + 10_000;

	private static final String A = "a".repeat(32);

	private static final String B = "b".repeat(32);

	private static final Owner OWNER = new Owner("pod-1", "host-1", 1, "main");

	@Test
	void firstTokenIsTheTimeAndNextIsOneMoreWhenTheClockStandsOrGoesBack() {
		LockRow first = row(acquire(null, null, plain(A), NOW));
		assertThat(first.token()).isEqualTo(NOW);
		LockRow free = row(StoreProtocol.release(first, A, true, NOW));
		assertThat(row(acquire(free, null, plain(B), NOW)).token()).isEqualTo(NOW + 1);
		assertThat(row(acquire(free, null, plain(B), NOW - 500)).token()).isEqualTo(NOW + 1);
	}

	@Test
	void everyWriteRaisesTheVersion() {
		LockRow lock = row(acquire(null, null, request(A, "u"), NOW));
		assertThat(row(StoreProtocol.renew(lock, grant(lock), NOW)).version()).isEqualTo(lock.version() + 1);
		assertThat(row(StoreProtocol.release(lock, A, true, NOW)).version()).isEqualTo(lock.version() + 1);
		assertThat(row(StoreProtocol.release(lock, B, true, NOW)).version()).isEqualTo(lock.version() + 1);
		assertThat(row(StoreProtocol.complete(lock, null, grant(lock), "u", NOW)).version())
			.isEqualTo(lock.version() + 1);
		assertThat(row(StoreProtocol.forceRelease("k", lock, B, NOW)).version()).isEqualTo(lock.version() + 1);
		assertThat(row(acquire(lock, null, request(B, "u"), END)).version()).isEqualTo(lock.version() + 1);
	}

	@Test
	void leaseIsHeldUntilItsEndAndFreeFromThenOn() {
		LockRow lock = row(acquire(null, null, plain(A), NOW));
		assertThat(acquire(lock, null, plain(B), END - 1).answer())
			.isEqualTo(new Held(OWNER, null, Duration.ofNanos(1000)));
		assertThat(acquire(lock, null, plain(A), END - 1).answer()).isEqualTo(new Granted(NOW, NOW, 0, null));
		assertThat(StoreProtocol.renew(lock, grant(lock), END - 1).answer()).isEqualTo(Renewal.RENEWED);
		assertThat(lock.toHeldLock("k", END - 1)).isPresent();
		assertThat(acquire(lock, null, plain(B), END).answer()).isInstanceOf(Granted.class);
		assertThat(acquire(lock, null, plain(A), END).answer()).isEqualTo(new Stale());
		assertThat(StoreProtocol.renew(lock, grant(lock), END).answer()).isEqualTo(Renewal.LOST);
		assertThat(lock.toHeldLock("k", END)).isEmpty();
	}

	@Test
	void refusalsStoreNothing() {
		LockRow lock = row(acquire(null, null, request(A, "u"), NOW));
		RunRow done = run(StoreProtocol.complete(lock, null, grant(lock), "u", NOW));
		assertThat(acquire(lock, null, request(B, "u"), NOW).isWrite()).isFalse();
		assertThat(acquire(lock, done, request(B, "u"), NOW).isWrite()).isFalse();
		assertThat(acquire(lock, null, request(A, "u"), NOW).isWrite()).isFalse();
		assertThat(StoreProtocol.renew(null, grant(lock), NOW).isWrite()).isFalse();
		assertThat(StoreProtocol.complete(null, null, grant(lock), "u", NOW).isWrite()).isFalse();
		assertThat(StoreProtocol.forceRelease("k", lock, B, END).isWrite()).isFalse();
	}

	@Test
	void tokensEndBelowTwoToThePowerOf53() {
		LockRow last = row(acquire(null, null, request(A, null, FencingToken.LIMIT - 2, 1), NOW));
		assertThat(last.token()).isEqualTo(FencingToken.LIMIT - 1);
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> acquire(last, null, plain(B), END))
			.withMessageContaining("no fencing token is left for key 'k'");
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> acquire(null, null, request(A, null, FencingToken.LIMIT - 3, 3), NOW));
	}

	@Test
	void unitMayBeginAsFarAheadAsTheToleranceAllows() {
		RunUnit unit = RunUnit.beginning("u", Micros.toInstant(NOW + 5000), Duration.ofMillis(5));
		assertThat(acquire(null, null, request(A, unit), NOW).answer()).isInstanceOf(Granted.class);
		assertThat(acquire(null, null, request(A, unit), NOW - 1).answer())
			.isEqualTo(new TooEarly(Micros.toDuration(5001)));
	}

	@Test
	void rollingPeriodIsCountedFromTheStartOfTheSuccess() {
		RunUnit rolling = RunUnit.rolling(Duration.ofMillis(100));
		LockRow lock = row(acquire(null, null, request(A, rolling), NOW));
		Transition<Settlement> completed = StoreProtocol.complete(lock, null, grant(lock), rolling.id(), NOW + 9000);
		assertThat(acquire(row(completed), run(completed), request(B, rolling), NOW + 99_999).answer())
			.isInstanceOf(Done.class);
		assertThat(acquire(row(completed), run(completed), request(B, rolling), NOW + 100_000).answer())
			.isInstanceOfSatisfying(Granted.class, (granted) -> assertThat(granted.attempt()).isEqualTo(1));
	}

	@Test
	void attemptIsDueWhenItsTimeHasCome() {
		LockRow lock = row(acquire(null, null, request(A, "u"), NOW));
		Transition<Settlement> failed = StoreProtocol.fail(lock, null, grant(lock), "u", NOW, TTL, "error");
		assertThat(acquire(row(failed), run(failed), attempt(2), END - 1).answer())
			.isEqualTo(new NotYet(run(failed).toRecord("k"), Micros.toDuration(1)));
		assertThat(acquire(row(failed), run(failed), attempt(2), END).answer()).isInstanceOf(Granted.class);
		assertThat(acquire(row(failed), run(failed), attempt(3), END).answer()).isInstanceOf(NotYet.class);
	}

	@Test
	void deathIsAnAttemptBeforeAnybodyHasStoredIt() {
		LockRow dead = row(acquire(null, null, request(A, "u"), NOW));
		assertThat(acquire(dead, null, attempt(1), END).answer()).isInstanceOfSatisfying(NotYet.class,
				(notYet) -> assertThat(notYet.last().status()).isEqualTo(Status.IN_DOUBT));
		Transition<Acquisition> next = acquire(dead, null, attempt(2), END);
		assertThat(next.answer()).isInstanceOfSatisfying(Granted.class, (granted) -> {
			assertThat(granted.attempt()).isEqualTo(2);
			assertThat(granted.doubt()).isNotNull();
		});
		assertThat(run(next).nonce()).isEqualTo(A);
	}

	@Test
	void outcomeNeedsNonceTokenUnitAndAKeyThatIsNotReleased() {
		LockRow lock = row(acquire(null, null, request(A, "u"), NOW));
		Grant grant = grant(lock);
		assertThat(complete(lock, new Grant("k", B, lock.token(), TTL), "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(complete(lock, new Grant("k", A, lock.token() + 1, TTL), "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(complete(lock, grant, "v")).isEqualTo(Settlement.NOT_OWNER);
		LockRow released = row(StoreProtocol.release(lock, A, false, NOW));
		assertThat(complete(released, grant, "u")).isEqualTo(Settlement.NOT_OWNER);
		assertThat(complete(lock, grant, "u")).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void nonceReleasedBeforeItsGrantIsRefusedAsLongAsItIsBuried() {
		LockRow unseen = row(StoreProtocol.release(null, A, true, NOW));
		assertThat(StoreProtocol.release(unseen, A, true, NOW))
			.isEqualTo(new Transition<>(Settlement.NOT_OWNER, null, null));
		LockRow other = row(acquire(unseen, null, plain(B), NOW));
		LockRow free = row(StoreProtocol.release(other, B, true, NOW));
		assertThat(acquire(free, null, plain(A), NOW).answer()).isEqualTo(new Stale());
		long later = NOW + LockRow.TOMBSTONE_LIFETIME;
		LockRow renewed = row(acquire(free, null, plain(B.replace('b', 'c')), later));
		assertThat(renewed.tombstones()).isEmpty();
	}

	@Test
	void tombstonesAreBounded() {
		LockRow lock = row(acquire(null, null, plain(A), NOW));
		for (int i = 0; i < 100; i++) {
			lock = row(StoreProtocol.release(lock, String.format("%032d", i), false, NOW));
		}
		assertThat(lock.tombstones()).hasSize(LockRow.MAX_TOMBSTONES);
		assertThat(acquire(lock, null, plain(String.format("%032d", 99)), END).answer()).isEqualTo(new Stale());
		assertThat(acquire(lock, null, plain(String.format("%032d", 70)), END).answer()).isEqualTo(new Stale());
	}

	@Test
	void leaseWithoutAnEndIsHeldForEver() {
		LockRow lock = new LockRow(1, NOW, A, "name", OWNER, "u", 1, NOW, LockRow.NEVER, "", 0, 0);
		assertThat(acquire(lock, null, plain(B), Long.MAX_VALUE - 1).answer()).isEqualTo(new Held(OWNER, "u", null));
		assertThat(lock.toHeldLock("k", NOW + 1)).hasValueSatisfying((held) -> {
			assertThat(held.expiresAt()).isNull();
			assertThat(held.heldFor()).isEqualTo(Micros.toDuration(1));
		});
		assertThat(row(StoreProtocol.renew(lock, grant(lock), NOW)).expiresAt()).isEqualTo(LockRow.NEVER);
	}

	@Test
	void forcedReleaseRaisesTheTokenAlsoWhenTheClockWentBack() {
		LockRow lock = row(acquire(null, null, request(A, "u"), NOW));
		Transition<ForcedRelease> forced = StoreProtocol.forceRelease("k", lock, B, NOW - 500);
		assertThat(row(forced).token()).isEqualTo(NOW + 1);
		assertThat(run(forced).status()).isEqualTo(Status.IN_DOUBT);
		assertThat(forced.answer().holder()).isEqualTo(lock.toHeldLock("k", NOW - 500).orElseThrow());
		assertThat(StoreProtocol.forceRelease("k", row(forced), A, NOW).answer().result())
			.isEqualTo(ForcedRelease.Result.NOT_HELD);
	}

	@Test
	void timesKeepTheirMicroseconds() {
		Instant instant = Instant.parse("2026-11-29T01:02:03.456789Z");
		assertThat(Micros.toInstant(Micros.of(instant))).isEqualTo(instant);
		assertThat(Micros.of(Micros.toDuration(1_234_567))).isEqualTo(1_234_567);
		for (Status status : Status.values()) {
			RunRow row = new RunRow("u", status, 1, A, OWNER, 1, 0, 0, 0, null, LockRow.NEVER);
			assertThat(RunRow.statusOf(row.statusCode())).isEqualTo(status);
		}
	}

	private static Transition<Acquisition> acquire(@Nullable LockRow lock, @Nullable RunRow run, AcquireRequest request,
			long now) {
		return StoreProtocol.acquire(lock, run, request, now);
	}

	private static Settlement complete(LockRow lock, Grant grant, String unit) {
		return StoreProtocol.complete(lock, null, grant, unit, NOW).answer();
	}

	private static AcquireRequest plain(String nonce) {
		return request(nonce, null, 0, 0, 1);
	}

	private static AcquireRequest request(String nonce, String unit) {
		return request(nonce, RunUnit.of(unit), 0, 0, 1);
	}

	private static AcquireRequest request(String nonce, @Nullable RunUnit unit, long floor, int tokens) {
		return request(nonce, unit, floor, 0, tokens);
	}

	private static AcquireRequest request(String nonce, RunUnit unit) {
		return request(nonce, unit, 0, 0, 1);
	}

	private static AcquireRequest attempt(int attempt) {
		return request(B, RunUnit.of("u"), 0, attempt, 1);
	}

	private static AcquireRequest request(String nonce, @Nullable RunUnit unit, long floor, int attempt, int tokens) {
		return new AcquireRequest("k", "name", nonce, OWNER, TTL, floor, unit, attempt, tokens);
	}

	private static Grant grant(LockRow lock) {
		return new Grant("k", lock.nonce(), lock.token(), TTL);
	}

	private static LockRow row(Transition<?> transition) {
		assertThat(transition.lock()).isNotNull();
		return transition.lock();
	}

	private static RunRow run(Transition<?> transition) {
		assertThat(transition.run()).isNotNull();
		return transition.run();
	}

}
