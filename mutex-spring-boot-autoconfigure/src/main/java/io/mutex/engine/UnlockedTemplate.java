package io.mutex.engine;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Runs everything at once and locks nothing, for an application that has switched locking
 * off. Leases are always valid, and tokens are numbers of this process.
 */
public final class UnlockedTemplate implements MutexTemplate {

	private final AtomicLong tokens = new AtomicLong();

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LeaseCallback<T, E> body)
			throws E {
		Lease lease = Leases.find(request.key()).orElseGet(() -> localLease(request));
		try (Leases.Scope scope = Leases.bind(lease)) {
			return body.run(lease);
		}
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request,
			LeaseCallback<T, E> body) throws E {
		return new RunResult<>(Outcome.EXECUTED, execute(request, body), null, null, "run without a lock");
	}

	private Lease localLease(LockRequest request) {
		return new LocalLease(request.key(), request.name(), new FencingToken(this.tokens.incrementAndGet()),
				UUID.randomUUID().toString().replace("-", ""), (request.unit() != null) ? request.unit().id() : null);
	}

	private record LocalLease(String key, String name, FencingToken token, String nonce,
			@Nullable String unit) implements Lease {

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public @Nullable Duration remaining() {
			return null;
		}

	}

}
