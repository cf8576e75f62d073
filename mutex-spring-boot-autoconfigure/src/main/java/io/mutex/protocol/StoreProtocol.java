package io.mutex.protocol;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Held;
import io.mutex.FencingToken;
import io.mutex.HeldLock;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.Reopening;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * The store operations as pure functions: from the stored rows and the store's time to an
 * answer and the rows to store. The caller makes the step atomic, by a lock or by
 * comparing {@link LockRow#version()}.
 * <p>
 * A run row and the row of one of several holders are written only together with the row
 * of the key, so the version of that row covers them all.
 */
public final class StoreProtocol {

	private StoreProtocol() {
	}

	/**
	 * Decides an acquisition for a store that knows one holder of a key at a time.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param run the row of the requested unit, or {@code null}
	 * @param request the request
	 * @param now the store's time
	 * @return the transition
	 * @throws MutexException if several may hold the key by this request
	 * @see io.mutex.LockProvider#acquire(AcquireRequest)
	 */
	public static Transition<Acquisition> acquire(@Nullable LockRow lock, @Nullable RunRow run, AcquireRequest request,
			long now) {
		if (request.isShared()) {
			throw new MutexException(request.key(),
					"key '" + request.key() + "' cannot be shared: this store knows one holder of a key at a time");
		}
		return acquire(lock, List.of(), run, request, now);
	}

	/**
	 * Decides an acquisition.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param shared the rows of those who hold or held the key together
	 * @param run the row of the requested unit, or {@code null}
	 * @param request the request
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#acquire(AcquireRequest)
	 */
	public static Transition<Acquisition> acquire(@Nullable LockRow lock, List<LockRow> shared, @Nullable RunRow run,
			AcquireRequest request, long now) {
		RunUnit unit = request.unit();
		Acquisition refusal = (unit != null) ? refuseUnit(run, request.key(), unit, now) : null;
		if (refusal == null && lock != null) {
			refusal = answerByNonce(lock, shared, run, request, now);
		}
		if (refusal == null && lock != null) {
			Held held = refuseByHolder(lock, shared, request, now);
			if (held != null) {
				return takePlace(lock, request, held, now);
			}
			refusal = refuseByPlace(lock.place(), request, now);
		}
		if (refusal == null && unit != null) {
			refusal = refuseAttempt(lock, run, request, unit, now);
		}
		return (refusal != null) ? Transition.unchanged(refusal) : grant(lock, shared, run, request, now);
	}

	private static @Nullable Acquisition refuseUnit(@Nullable RunRow run, String key, RunUnit unit, long now) {
		if (run != null && run.status() == Status.DONE
				&& (unit.within() == null || run.began() > now - Micros.of(unit.within()))) {
			return new Acquisition.Done(run.toRecord(key));
		}
		if (unit.begins() != null) {
			long ahead = Micros.of(unit.begins()) - now;
			if (ahead > Micros.of(unit.tolerance())) {
				return new Acquisition.TooEarly(Micros.toDuration(ahead));
			}
		}
		return null;
	}

	private static @Nullable Acquisition answerByNonce(LockRow lock, List<LockRow> shared, @Nullable RunRow run,
			AcquireRequest request, long now) {
		if (lock.nonce().equals(request.nonce())) {
			return lock.isHeld(now) ? grantedAlready(lock, run, request) : new Acquisition.Stale();
		}
		Acquisition answer = Sharing.answerByNonce(lock, shared, request.nonce(), now);
		return (answer == null && lock.hasBuried(request.nonce())) ? new Acquisition.Stale() : answer;
	}

	private static @Nullable Held refuseByHolder(LockRow lock, List<LockRow> shared, AcquireRequest request, long now) {
		if (lock.isHeld(now)) {
			return new Held(lock.owner(), lock.unit(),
					(lock.expiresAt() == LockRow.NEVER) ? null : Micros.toDuration(lock.expiresAt() - now));
		}
		return Sharing.refuse(lock, shared, request, now);
	}

	private static @Nullable Held refuseByPlace(Place place, AcquireRequest request, long now) {
		return place.admits(request, now) ? null : new Held(null, null, Micros.toDuration(place.until() - now));
	}

	private static Transition<Acquisition> takePlace(LockRow lock, AcquireRequest request, Held held, long now) {
		Reservation reservation = request.reservation();
		if (reservation == null || !lock.place().admits(reservation, now)) {
			return Transition.unchanged(held);
		}
		return new Transition<>(held, lock.kept(Place.of(reservation, now)), null);
	}

	private static Acquisition grantedAlready(LockRow lock, @Nullable RunRow run, AcquireRequest request) {
		RunRecord doubt = (run != null && run.status() == Status.IN_DOUBT) ? run.toRecord(request.key()) : null;
		return new Acquisition.Granted(lock.token() - request.tokens() + 1, lock.token(), lock.attempt(), doubt);
	}

	private static @Nullable Acquisition refuseAttempt(@Nullable LockRow lock, @Nullable RunRow run,
			AcquireRequest request, RunUnit unit, long now) {
		RunRow last = lastAttempt(lock, run, unit, now);
		if (request.attempt() == 0 || last == null) {
			return null;
		}
		if (request.attempt() != last.attempt() + 1 || last.notBefore() > now) {
			return new Acquisition.NotYet(last.toRecord(request.key()),
					Micros.toDuration(Math.max(0, last.notBefore() - now)));
		}
		return null;
	}

	private static @Nullable RunRow lastAttempt(@Nullable LockRow lock, @Nullable RunRow run, RunUnit unit, long now) {
		if (lock != null && lock.isAbandoned(now) && unit.id().equals(lock.unit())) {
			return RunRow.ended(lock, unit.id(), Status.IN_DOUBT, now, 0, null);
		}
		return (run != null && run.status() != Status.DONE) ? run : null;
	}

	private static Transition<Acquisition> grant(@Nullable LockRow lock, List<LockRow> shared, @Nullable RunRow run,
			AcquireRequest request, long now) {
		RunUnit unit = request.unit();
		RunRow last = (unit != null) ? lastAttempt(lock, run, unit, now) : null;
		int attempt = (unit != null) ? ((last != null) ? last.attempt() : 0) + 1 : 0;
		long first = Math.max((lock != null) ? lock.token() + 1 : 1, Math.max(now, request.floor() + 1));
		long token = first + request.tokens() - 1;
		if (token >= FencingToken.LIMIT) {
			throw new MutexException(request.key(), "no fencing token is left for key '" + request.key()
					+ "': the next would be " + token + ", and tokens end at 2^53; is the clock of the store right?");
		}
		RunRow doubt = (lock != null && lock.isAbandoned(now)) ? doubtOf(lock, now) : null;
		if (request.isShared()) {
			return Sharing.grant(lock, shared, doubt, request, token, now);
		}
		long expiresAt = now + Micros.of(request.ttl());
		LockRow granted = new LockRow((lock != null) ? lock.version() + 1 : now, token, request.nonce(), request.name(),
				request.owner(), (unit != null) ? unit.id() : null, attempt, now, expiresAt,
				(lock != null) ? lock.liveTombstones(now) : "", (lock != null) ? lock.buriedAt() : 0,
				(unit != null) ? keptUntil(unit, now) : 0, 0,
				(lock != null) ? lock.place().after(request) : Place.EMPTY);
		RunRow doubted = (last != null && last.status() == Status.IN_DOUBT) ? last : null;
		return new Transition<>(new Acquisition.Granted(first, token, attempt,
				(doubted != null) ? doubted.toRecord(request.key()) : null), granted, doubt);
	}

	private static long keptUntil(RunUnit unit, long now) {
		if (unit.keptFor() == null) {
			return LockRow.NEVER;
		}
		return Math.max(now + Micros.of(unit.keptFor()), (unit.keptUntil() != null) ? Micros.of(unit.keptUntil()) : 0);
	}

	private static @Nullable RunRow doubtOf(LockRow lock, long now) {
		String unit = lock.unit();
		return (unit != null) ? RunRow.ended(lock, unit, Status.IN_DOUBT, now, 0, null) : null;
	}

	/**
	 * Decides a renewal.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param grant the grant to prolong, not a shared one
	 * @param now the store's time
	 * @return the transition
	 */
	public static Transition<Renewal> renew(@Nullable LockRow lock, Grant grant, long now) {
		return renew(lock, List.of(), grant, now);
	}

	/**
	 * Decides a renewal.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param shared the rows of those who hold or held the key together
	 * @param grant the grant to prolong
	 * @param now the store's time
	 * @return the transition
	 */
	public static Transition<Renewal> renew(@Nullable LockRow lock, List<LockRow> shared, Grant grant, long now) {
		if (lock != null && grant.shared()) {
			return Sharing.renew(lock, shared, grant, now);
		}
		if (lock == null || !owns(lock, grant) || !lock.isHeld(now)) {
			return Transition.unchanged(Renewal.LOST);
		}
		return new Transition<>(Renewal.RENEWED, lock.prolongedTo(now + Micros.of(grant.ttl())), null);
	}

	/**
	 * Decides a release of a key that nobody shares.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param nonce the nonce that releases
	 * @param began whether the body began
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#release(String, String, boolean)
	 */
	public static Transition<Settlement> release(@Nullable LockRow lock, String nonce, boolean began, long now) {
		return release(lock, List.of(), nonce, began, now);
	}

	/**
	 * Decides a release.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param shared the rows of those who hold or held the key together
	 * @param nonce the nonce that releases
	 * @param began whether the body began
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#release(String, String, boolean)
	 */
	public static Transition<Settlement> release(@Nullable LockRow lock, List<LockRow> shared, String nonce,
			boolean began, long now) {
		if (lock == null) {
			return new Transition<>(Settlement.NOT_OWNER, LockRow.unseen(nonce + " ", now), null);
		}
		if (lock.nonce().equals(nonce) && lock.expiresAt() > 0) {
			return new Transition<>(Settlement.SETTLED, lock.released(), began ? doubtOf(lock, now) : null);
		}
		if (Sharing.isKnown(shared, nonce)) {
			return Sharing.release(lock, shared, nonce, now);
		}
		// released again: a request for the grant may be under way, and must grant
		// nothing once the key has had another holder
		boolean owned = lock.nonce().equals(nonce) || lock.hasSettled(nonce);
		Settlement answer = owned ? Settlement.SETTLED : Settlement.NOT_OWNER;
		return lock.hasBuried(nonce) ? Transition.unchanged(answer)
				: new Transition<>(answer, lock.burying(nonce, now), null);
	}

	/**
	 * Decides a completion.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param run the row of the unit, or {@code null} if there is none
	 * @param grant the grant that completes
	 * @param unit its unit
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#complete(Grant, String)
	 */
	public static Transition<Settlement> complete(@Nullable LockRow lock, @Nullable RunRow run, Grant grant,
			String unit, long now) {
		return settle(lock, run, grant, unit, now, Status.DONE, 0, null);
	}

	/**
	 * Decides a failure.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param run the row of the unit, or {@code null} if there is none
	 * @param grant the grant that failed
	 * @param unit its unit
	 * @param now the store's time
	 * @param delay how long the next attempt has to wait
	 * @param error what failed
	 * @return the transition
	 * @see io.mutex.LockProvider#fail(Grant, String, String, Duration)
	 */
	public static Transition<Settlement> fail(@Nullable LockRow lock, @Nullable RunRow run, Grant grant, String unit,
			long now, Duration delay, String error) {
		return settle(lock, run, grant, unit, now, Status.FAILED, now + Micros.of(delay), error);
	}

	private static Transition<Settlement> settle(@Nullable LockRow lock, @Nullable RunRow run, Grant grant, String unit,
			long now, Status status, long notBefore, @Nullable String error) {
		if (lock != null && owns(lock, grant) && unit.equals(lock.unit()) && lock.expiresAt() > 0) {
			return new Transition<>(Settlement.SETTLED, lock.released(),
					RunRow.ended(lock, unit, status, now, notBefore, error));
		}
		boolean repeated = run != null && run.status() == status && run.nonce().equals(grant.nonce());
		return Transition.unchanged(repeated ? Settlement.SETTLED : Settlement.NOT_OWNER);
	}

	/**
	 * Decides a forced release of a key that nobody shares.
	 * @param key the key
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param nonce a new nonce, which takes the place of the holder's
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#forceRelease(String)
	 */
	public static Transition<ForcedRelease> forceRelease(String key, @Nullable LockRow lock, String nonce, long now) {
		return forceRelease(key, lock, List.of(), nonce, now);
	}

	/**
	 * Decides a forced release.
	 * @param key the key
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param shared the rows of those who hold or held the key together
	 * @param nonce a new nonce, which takes the place of the holder's
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#forceRelease(String)
	 */
	public static Transition<ForcedRelease> forceRelease(String key, @Nullable LockRow lock, List<LockRow> shared,
			String nonce, long now) {
		List<HeldLock> holders = holders(key, lock, shared, now);
		if (lock == null || holders.isEmpty()) {
			return Transition.unchanged(new ForcedRelease(ForcedRelease.Result.NOT_HELD, null, null));
		}
		LockRow buried = Sharing.buryAll(lock, shared, now);
		LockRow freed = new LockRow(lock.version() + 1, Math.max(lock.token() + 1, now), nonce, lock.name(),
				lock.owner(), lock.unit(), lock.attempt(), lock.acquiredAt(), 0, buried.tombstones(), buried.buriedAt(),
				lock.keptUntil(), 0, lock.place());
		return new Transition<>(
				new ForcedRelease(ForcedRelease.Result.RELEASED, holders.get(0), new FencingToken(freed.token())),
				freed, (lock.expiresAt() > 0) ? doubtOf(lock, now) : null, null, shared.isEmpty() ? null : List.of());
	}

	/**
	 * Who holds a key.
	 * @param key the key
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param shared the rows of those who hold or held the key together
	 * @param now the store's time
	 * @return the one holder, or all who share the key, the first granted first
	 */
	public static List<HeldLock> holders(String key, @Nullable LockRow lock, List<LockRow> shared, long now) {
		if (lock == null) {
			return List.of();
		}
		return Stream.concat(Stream.of(lock), Sharing.live(lock, shared, now).stream())
			.flatMap((row) -> row.toHeldLock(key, now).stream())
			.sorted(Comparator.comparingLong(HeldLock::token))
			.toList();
	}

	/**
	 * Decides the reopening of a unit.
	 * @param key the key
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param run the row of the unit, or {@code null} if there is none
	 * @param unit the unit
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#reopen(String, String)
	 */
	public static Transition<Reopening> reopen(String key, @Nullable LockRow lock, @Nullable RunRow run, String unit,
			long now) {
		LockRow latest = (lock != null && unit.equals(lock.unit())) ? lock : null;
		if (latest != null && latest.isHeld(now)) {
			return Transition
				.unchanged(new Reopening(Reopening.Result.HELD, null, latest.toHeldLock(key, now).orElse(null)));
		}
		RunRow removed = (latest != null && latest.isAbandoned(now)) ? doubtOf(latest, now) : run;
		if (removed == null) {
			return Transition.unchanged(new Reopening(Reopening.Result.NOTHING, null, null));
		}
		// the new version refuses a request that has seen what is removed
		LockRow changed = (lock != null) ? lock.touched() : LockRow.unseen("", now);
		return new Transition<>(new Reopening(Reopening.Result.REOPENED, removed.toRecord(key), null),
				(latest != null) ? changed.released() : changed, null, unit, null);
	}

	private static boolean owns(LockRow lock, Grant grant) {
		return lock.nonce().equals(grant.nonce()) && lock.token() == grant.token();
	}

}
