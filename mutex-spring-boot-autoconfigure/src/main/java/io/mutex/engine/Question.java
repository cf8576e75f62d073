package io.mutex.engine;

import java.time.Duration;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.LockRequest;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * What a call asks of the store.
 *
 * @param request what the call asks for
 * @param owner who asks
 * @param ttl the length of the lease
 * @param floor the token must be higher than this
 * @param takesTurns whether a turn of another holder of this process will do, and others
 * may have one after it: nobody but the store has to know who holds the key
 */
record Question(LockRequest request, Owner owner, Duration ttl, long floor, boolean takesTurns) {

	String key() {
		return this.request.key();
	}

	AcquireRequest with(String nonce, int attempt, int tokens, @Nullable Reservation reservation) {
		return new AcquireRequest(this.request.key(), this.request.name(), nonce, this.owner, this.ttl, this.floor,
				this.request.unit(), attempt, tokens, this.request.permits(), reservation);
	}

}
