package io.mutex.protocol;

import java.time.Duration;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.FencingToken;
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
 * A run row is written only together with a lock row, so the version of the lock row
 * covers both.
 */
public final class StoreProtocol {

	private StoreProtocol() {
	}

	/**
	 * Decides an acquisition.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param run the row of the requested unit, or {@code null}
	 * @param request the request
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#acquire(AcquireRequest)
	 */
	public static Transition<Acquisition> acquire(@Nullable LockRow lock, @Nullable RunRow run, AcquireRequest request,
			long now) {
		RunUnit unit = request.unit();
		Acquisition refusal = (unit != null) ? refuseUnit(run, request.key(), unit, now) : null;
		if (refusal == null && lock != null) {
			refusal = answerByHolder(lock, run, request, now);
		}
		if (refusal == null && unit != null) {
			refusal = refuseAttempt(lock, run, request, unit, now);
		}
		return (refusal != null) ? Transition.unchanged(refusal) : grant(lock, run, request, now);
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

	private static @Nullable Acquisition answerByHolder(LockRow lock, @Nullable RunRow run, AcquireRequest request,
			long now) {
		if (lock.nonce().equals(request.nonce())) {
			return lock.isHeld(now) ? grantedAlready(lock, run, request) : new Acquisition.Stale();
		}
		if (lock.hasBuried(request.nonce())) {
			return new Acquisition.Stale();
		}
		if (lock.isHeld(now)) {
			return new Acquisition.Held(lock.owner(), lock.unit(),
					(lock.expiresAt() == LockRow.NEVER) ? null : Micros.toDuration(lock.expiresAt() - now));
		}
		return null;
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

	private static Transition<Acquisition> grant(@Nullable LockRow lock, @Nullable RunRow run, AcquireRequest request,
			long now) {
		RunUnit unit = request.unit();
		RunRow last = (unit != null) ? lastAttempt(lock, run, unit, now) : null;
		int attempt = (unit != null) ? ((last != null) ? last.attempt() : 0) + 1 : 0;
		long first = Math.max((lock != null) ? lock.token() + 1 : 1, Math.max(now, request.floor() + 1));
		long token = first + request.tokens() - 1;
		if (token >= FencingToken.LIMIT) {
			throw new MutexException(request.key(), "no fencing token is left for key '" + request.key()
					+ "': the next would be " + token + ", and tokens end at 2^53; is the clock of the store right?");
		}
		long expiresAt = now + Micros.of(request.ttl());
		LockRow granted = new LockRow((lock != null) ? lock.version() + 1 : now, token, request.nonce(), request.name(),
				request.owner(), (unit != null) ? unit.id() : null, attempt, now, expiresAt,
				(lock != null) ? lock.liveTombstones(now) : "", (lock != null) ? lock.buriedAt() : 0,
				(unit != null) ? keptUntil(unit, now) : 0);
		RunRow doubt = (lock != null && lock.isAbandoned(now)) ? doubtOf(lock, now) : null;
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
	 * @param grant the grant to prolong
	 * @param now the store's time
	 * @return the transition
	 */
	public static Transition<Renewal> renew(@Nullable LockRow lock, Grant grant, long now) {
		if (lock == null || !owns(lock, grant) || !lock.isHeld(now)) {
			return Transition.unchanged(Renewal.LOST);
		}
		return new Transition<>(Renewal.RENEWED, lock.prolongedTo(now + Micros.of(grant.ttl())), null);
	}

	/**
	 * Decides a release.
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param nonce the nonce that releases
	 * @param began whether the body began
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#release(String, String, boolean)
	 */
	public static Transition<Settlement> release(@Nullable LockRow lock, String nonce, boolean began, long now) {
		if (lock == null) {
			return new Transition<>(Settlement.NOT_OWNER, LockRow.unseen(nonce + " ", now), null);
		}
		if (lock.nonce().equals(nonce) && lock.expiresAt() > 0) {
			return new Transition<>(Settlement.SETTLED, lock.released(), began ? doubtOf(lock, now) : null);
		}
		// released again: a request for the grant may be under way, and must grant
		// nothing once the key has had another holder
		Settlement answer = lock.nonce().equals(nonce) ? Settlement.SETTLED : Settlement.NOT_OWNER;
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
	 * Decides a forced release.
	 * @param key the key
	 * @param lock the row of the key, or {@code null} if there is none
	 * @param nonce a new nonce, which takes the place of the holder's
	 * @param now the store's time
	 * @return the transition
	 * @see io.mutex.LockProvider#forceRelease(String)
	 */
	public static Transition<ForcedRelease> forceRelease(String key, @Nullable LockRow lock, String nonce, long now) {
		if (lock == null || !lock.isHeld(now)) {
			return Transition.unchanged(new ForcedRelease(ForcedRelease.Result.NOT_HELD, null, null));
		}
		LockRow freed = new LockRow(lock.version() + 1, Math.max(lock.token() + 1, now), nonce, lock.name(),
				lock.owner(), lock.unit(), lock.attempt(), lock.acquiredAt(), 0, lock.tombstones(), lock.buriedAt(),
				lock.keptUntil());
		return new Transition<>(new ForcedRelease(ForcedRelease.Result.RELEASED, lock.toHeldLock(key, now).orElse(null),
				new FencingToken(freed.token())), freed, doubtOf(lock, now));
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
				(latest != null) ? changed.released() : changed, null, unit);
	}

	private static boolean owns(LockRow lock, Grant grant) {
		return lock.nonce().equals(grant.nonce()) && lock.token() == grant.token();
	}

}
