package io.mutex.file;

import java.util.List;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * The stored row of a key in the light of what the kernel says of its lock.
 */
final class Rows {

	private static final LockRow UNKNOWN_HOLDER = new LockRow(0, 0, "", "",
			new Owner("unknown", "unknown", 0, "unknown"), null, 0, 0, LockRow.NEVER, "", 0, 0);

	private Rows() {
	}

	/**
	 * The row of a key that this JVM holds.
	 * @param state the stored state
	 * @return the row as it is stored
	 */
	static @Nullable LockRow held(@Nullable StoredState state) {
		return (state != null) ? state.lock() : null;
	}

	/**
	 * The row of a key that nobody holds: what was not released has been abandoned.
	 * @param state the stored state
	 * @return a row that is not held
	 */
	static @Nullable LockRow abandoned(@Nullable StoredState state) {
		return (state != null && state.lock().expiresAt() > 0) ? StoredState.expiring(state.lock(), 1) : held(state);
	}

	/**
	 * The row of a key that several may hold, or have held.
	 * @param state the stored state
	 * @param living those that live
	 * @return a row that nobody holds alone
	 */
	static @Nullable LockRow shared(@Nullable StoredState state, List<SharedHolder> living) {
		LockRow row = abandoned(state);
		if (row == null || living.isEmpty()) {
			return row;
		}
		return new LockRow(row.version(), row.token(), row.nonce(), row.name(), row.owner(), row.unit(), row.attempt(),
				row.acquiredAt(), row.expiresAt(), row.tombstones(), row.buriedAt(), row.keptUntil(), LockRow.NEVER,
				row.place());
	}

	/**
	 * The rows of those who hold or held a key together.
	 * @param state the stored state
	 * @param living those that live
	 * @return a row for each; those of dead ones have expired
	 */
	static List<LockRow> sharers(@Nullable StoredState state, List<SharedHolder> living) {
		List<SharedHolder> stored = (state != null) ? state.sharers() : List.of();
		return stored.stream().map((sharer) -> sharer.row(living.contains(sharer))).toList();
	}

	/**
	 * The row of a key that nobody holds, after the dead of several holders were buried.
	 * @param state the stored state
	 * @param now the time
	 * @return a row that is not held
	 */
	static @Nullable LockRow buried(@Nullable StoredState state, long now) {
		LockRow row = abandoned(state);
		for (SharedHolder sharer : (state != null) ? state.sharers() : List.<SharedHolder>of()) {
			row = buried(row, sharer.nonce(), now);
		}
		return row;
	}

	static @Nullable LockRow buried(@Nullable LockRow row, String nonce, long now) {
		LockRow changed = StoreProtocol.release(row, nonce, false, now).lock();
		return (changed != null) ? changed : row;
	}

	/**
	 * The answer for a key that is held. If another process holds it, what is stored may
	 * be older than its grant, or newer than its release.
	 * @param state the stored state
	 * @param run the stored run of the unit
	 * @param request the request
	 * @param now the time
	 * @param own whether this JVM holds the key for the nonce of the request
	 * @return the answer, never a new grant
	 */
	static Acquisition answer(@Nullable StoredState state, @Nullable RunRow run, AcquireRequest request, long now,
			boolean own) {
		LockRow row = held(state);
		if (row != null && row.nonce().equals(request.nonce())) {
			return StoreProtocol.acquire(own ? row : abandoned(state), List.of(), run, request, now).answer();
		}
		LockRow taken = (row != null) ? StoredState.expiring(row, LockRow.NEVER) : UNKNOWN_HOLDER;
		Acquisition answer = StoreProtocol.acquire(taken, List.of(), run, request, now).answer();
		boolean known = row != null && row.expiresAt() > 0;
		return (!known && answer instanceof Acquisition.Held) ? heldBy(state) : answer;
	}

	private static Acquisition heldBy(@Nullable StoredState state) {
		SharedHolder sharer = (state != null) ? state.livingSharer() : null;
		return new Acquisition.Held((sharer != null) ? sharer.owner() : null, null, null);
	}

}
