package io.mutex.redis;

import java.time.Duration;
import java.util.UUID;

import io.mutex.AcquireRequest;
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

	static String newNonce() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	static Grant take(LockProvider provider, AcquireRequest request) {
		if (provider.acquire(request) instanceof Granted granted) {
			return new Grant(request.key(), request.nonce(), granted.token(), request.ttl());
		}
		throw new AssertionError("not granted: " + request.key());
	}

	static Grant take(LockProvider provider, String key) {
		return take(provider, of(key));
	}

}
