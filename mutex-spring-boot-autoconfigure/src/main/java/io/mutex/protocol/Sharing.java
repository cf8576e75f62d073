package io.mutex.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.Stale;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.jspecify.annotations.Nullable;

/**
 * The part of the {@link StoreProtocol} about keys that several hold at once.
 * <p>
 * Each of them has a row of its own, of which only nonce, token, name, owner and times
 * count. It holds the key while its lease lasts and ends no later than the row of the key
 * says of all: a grant to one alone, or a forced release, sets that to 0 and so ends them
 * at once, also if the clock goes back.
 */
final class Sharing {

	private Sharing() {
	}

	static boolean isKnown(List<LockRow> shared, String nonce) {
		return shared.stream().anyMatch((row) -> row.nonce().equals(nonce));
	}

	static List<LockRow> live(LockRow lock, List<LockRow> shared, long now) {
		return shared.stream().filter((row) -> isLive(lock, row, now)).toList();
	}

	private static boolean isLive(LockRow lock, LockRow row, long now) {
		return row.isHeld(now) && isCurrent(lock, row);
	}

	// whether nobody has had the key alone since
	private static boolean isCurrent(LockRow lock, LockRow row) {
		return row.expiresAt() <= lock.sharedUntil();
	}

	static @Nullable Acquisition answerByNonce(LockRow lock, List<LockRow> shared, String nonce, long now) {
		for (LockRow row : shared) {
			if (row.nonce().equals(nonce)) {
				return isLive(lock, row, now) ? new Granted(row.token(), row.token(), 0, null) : new Stale();
			}
		}
		return null;
	}

	static @Nullable Held refuse(LockRow lock, List<LockRow> shared, AcquireRequest request, long now) {
		if (lock.sharedUntil() <= now) {
			return null;
		}
		List<LockRow> live = new ArrayList<>(live(lock, shared, now));
		live.sort(Comparator.comparingLong(LockRow::expiresAt));
		if (request.isShared()) {
			return (live.size() < request.permits()) ? null : held(live.get(0), live.get(0).expiresAt(), now);
		}
		// without the rows of the holders, the time alone tells
		LockRow last = live.isEmpty() ? null : live.get(live.size() - 1);
		return held(last, lock.sharedUntil(), now);
	}

	private static Held held(@Nullable LockRow holder, long until, long now) {
		return new Held((holder != null) ? holder.owner() : null, null, Micros.toDuration(until - now));
	}

	static Transition<Acquisition> grant(@Nullable LockRow lock, List<LockRow> shared, @Nullable RunRow doubt,
			AcquireRequest request, long token, long now) {
		LockRow key = (lock != null) ? lock : LockRow.unseen("", now);
		List<LockRow> live = live(key, shared, now);
		LockRow buried = buryAll(key, shared.stream().filter((row) -> !live.contains(row)).toList(), now);
		long version = (lock != null) ? lock.version() + 1 : now;
		LockRow granted = new LockRow(version, token, request.nonce(), request.name(), request.owner(), null, 0, now,
				now + Micros.of(request.ttl()), "", 0, 0);
		List<LockRow> all = new ArrayList<>(live);
		all.add(granted);
		return Transition.sharing(new Granted(token, token, 0, null),
				buried.sharedBy(request, version, token, latestEnd(all), now), doubt, all);
	}

	private static long latestEnd(List<LockRow> rows) {
		return rows.stream().mapToLong(LockRow::expiresAt).max().orElse(0);
	}

	static LockRow buryAll(LockRow lock, List<LockRow> shared, long now) {
		LockRow buried = lock;
		for (LockRow row : shared) {
			buried = buried.burying(row.nonce(), now);
		}
		return buried;
	}

	static Transition<Renewal> renew(LockRow lock, List<LockRow> shared, Grant grant, long now) {
		List<LockRow> all = new ArrayList<>(shared);
		for (LockRow row : shared) {
			if (row.nonce().equals(grant.nonce()) && row.token() == grant.token() && isLive(lock, row, now)) {
				LockRow prolonged = row.prolongedTo(now + Micros.of(grant.ttl()));
				all.set(all.indexOf(row), prolonged);
				// a request that saw the former end must lose against the new version
				long until = Math.max(lock.sharedUntil(), prolonged.expiresAt());
				return Transition.sharing(Renewal.RENEWED, lock.sharedUntil(until), null, all);
			}
		}
		return Transition.unchanged(Renewal.LOST);
	}

	static Transition<Settlement> release(LockRow lock, List<LockRow> shared, String nonce, long now) {
		List<LockRow> rest = shared.stream().filter((row) -> !row.nonce().equals(nonce)).toList();
		boolean owned = shared.stream().anyMatch((row) -> row.nonce().equals(nonce) && isCurrent(lock, row));
		if (!owned) {
			return Transition.sharing(Settlement.NOT_OWNER, lock.burying(nonce, now), null, rest);
		}
		long until = latestEnd(rest.stream().filter((row) -> isCurrent(lock, row)).toList());
		return Transition.sharing(Settlement.SETTLED, lock.settledBy(nonce, until, now), null, rest);
	}

}
