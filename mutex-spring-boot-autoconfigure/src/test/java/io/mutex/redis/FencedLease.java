package io.mutex.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LockProvider.Grant;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * A lease that believes in itself until it is told that it is lost, as that of a worker
 * that stood still does.
 *
 * @param key the key
 * @param token the token
 * @param nonce the nonce
 * @param fences what it is fenced by
 * @param valid whether it is valid
 * @param refusals what it was told of
 */
record FencedLease(String key, FencingToken token, String nonce, List<Fence> fences, AtomicBoolean valid,
		List<StaleFencingTokenException> refusals) implements Lease {

	static FencedLease strict(String key, long token) {
		return of(key, token, key, true);
	}

	static FencedLease of(String key, long token, String resource, boolean strict) {
		String nonce = Requests.newNonce();
		FencingToken number = new FencingToken(token);
		return new FencedLease(key, number, nonce, List.of(new Fence(resource, key, number, nonce, strict)),
				new AtomicBoolean(true), new ArrayList<>());
	}

	static FencedLease unfenced(String key, long token) {
		return new FencedLease(key, new FencingToken(token), Requests.newNonce(), List.of(), new AtomicBoolean(true),
				new ArrayList<>());
	}

	static FencedLease of(Grant grant) {
		FencingToken token = new FencingToken(grant.token());
		return new FencedLease(grant.key(), token, grant.nonce(),
				List.of(new Fence(grant.key(), grant.key(), token, grant.nonce(), true)), new AtomicBoolean(true),
				new ArrayList<>());
	}

	FencedLease registeredAt(RedisFenceGuard guard) {
		this.fences.forEach(guard::register);
		return this;
	}

	@Override
	public String name() {
		return this.key;
	}

	@Override
	public @Nullable String unit() {
		return null;
	}

	@Override
	public boolean isValid() {
		return this.valid.get();
	}

	@Override
	public Duration remaining() {
		return Duration.ofSeconds(30);
	}

	@Override
	public void refused(StaleFencingTokenException refusal) {
		this.refusals.add(refusal);
	}

}
