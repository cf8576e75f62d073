package io.mutex.file;

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
			return StoreProtocol.acquire(own ? row : abandoned(state), run, request, now).answer();
		}
		boolean known = row != null && row.expiresAt() > 0;
		Acquisition answer = StoreProtocol.acquire(known ? row : UNKNOWN_HOLDER, run, request, now).answer();
		return (!known && answer instanceof Acquisition.Held) ? new Acquisition.Held(null, null, null) : answer;
	}

}
