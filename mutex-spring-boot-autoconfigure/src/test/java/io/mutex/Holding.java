package io.mutex;

import io.mutex.LockProvider.Grant;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * A request and the grant it got.
 *
 * @param request the request
 * @param granted the grant
 */
record Holding(AcquireRequest request, Acquisition.Granted granted) {

	String key() {
		return this.request.key();
	}

	String nonce() {
		return this.request.nonce();
	}

	long token() {
		return this.granted.token();
	}

	int attempt() {
		return this.granted.attempt();
	}

	@Nullable RunRecord doubt() {
		return this.granted.doubt();
	}

	Grant grant() {
		return new Grant(key(), nonce(), token(), this.request.ttl(), this.request.permits());
	}

}
