package io.mutex.jdbc;

import java.time.Duration;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests of the tests in this package.
 */
final class Requests {

	static final Duration TTL = Duration.ofSeconds(30);

	private Requests() {
	}

	static String newKey() {
		return "key-" + UUID.randomUUID();
	}

	static AcquireRequest request(String key) {
		return request(key, null);
	}

	static AcquireRequest request(String key, @Nullable String unit) {
		return request(key, unit, TTL);
	}

	static AcquireRequest request(String key, @Nullable String unit, Duration ttl) {
		String nonce = UUID.randomUUID().toString().replace("-", "");
		return new AcquireRequest(key, "name", nonce, new Owner("instance", "host", 1, "thread"), ttl, 0,
				(unit != null) ? RunUnit.of(unit) : null, 0, 1);
	}

	static AcquireRequest shared(String key) {
		return request(key, AcquireRequest.SHARED, null);
	}

	static AcquireRequest waiting(String key, String waiter) {
		return request(key, 1, new Reservation(waiter, TTL));
	}

	private static AcquireRequest request(String key, int permits, @Nullable Reservation reservation) {
		AcquireRequest plain = request(key);
		return new AcquireRequest(key, plain.name(), plain.nonce(), plain.owner(), TTL, 0, null, 0, 1, permits,
				reservation);
	}

	static Grant take(LockProvider provider, AcquireRequest request) {
		Acquisition answer = provider.acquire(request);
		assertThat(answer).isInstanceOf(Acquisition.Granted.class);
		return new Grant(request.key(), request.nonce(), ((Acquisition.Granted) answer).token(), request.ttl(),
				request.permits());
	}

	static Grant take(LockProvider provider, String key) {
		return take(provider, request(key));
	}

}
