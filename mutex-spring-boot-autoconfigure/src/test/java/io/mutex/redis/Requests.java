package io.mutex.redis;

import java.time.Duration;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition.Granted;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * Requests for a lease of a minute.
 */
final class Requests {

	static final Duration TTL = Duration.ofMinutes(1);

	private Requests() {
	}

	static AcquireRequest of(String key) {
		return of(key, null);
	}

	static AcquireRequest of(String key, @Nullable RunUnit unit) {
		return of(key, unit, TTL, 0);
	}

	static AcquireRequest of(String key, @Nullable RunUnit unit, Duration ttl, long floor) {
		return new AcquireRequest(key, key, newNonce(), new Owner("pod-1", "host-1", 1, "main"), ttl, floor, unit, 0,
				1);
	}

	/**
	 * A request for one of several permits.
	 * @param key the key
	 * @param permits how many there are
	 * @param waiter who waits, or {@code null}
	 * @return the request
	 */
	static AcquireRequest of(String key, int permits, @Nullable String waiter) {
		return of(key, permits, waiter, TTL);
	}

	static AcquireRequest of(String key, int permits, @Nullable String waiter, Duration ttl) {
		return new AcquireRequest(key, key, newNonce(), new Owner("pod-1", "host-1", 1, "main"), ttl, 0, null, 0, 1,
				permits, (waiter != null) ? new Reservation(waiter, TTL) : null);
	}

	static String newNonce() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	static Grant take(LockProvider provider, AcquireRequest request) {
		if (provider.acquire(request) instanceof Granted granted) {
			return new Grant(request.key(), request.nonce(), granted.token(), request.ttl(), request.permits());
		}
		throw new AssertionError("not granted: " + request.key());
	}

	static Grant take(LockProvider provider, String key) {
		return take(provider, of(key));
	}

}
