package io.mutex;

import java.time.Duration;
import java.util.UUID;

import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request under construction: a lease of 2 minutes without a unit, unless said
 * otherwise.
 */
final class Ask {

	private final String key;

	private String nonce = newNonce();

	private Duration ttl = Duration.ofMinutes(2);

	private long floor;

	private @Nullable RunUnit unit;

	private int attempt;

	private int tokens = 1;

	private int permits = 1;

	private AcquireRequest.@Nullable Reservation reservation;

	private String name;

	private Owner owner = new Owner("pod-1", "host-1", ProcessHandle.current().pid(), Thread.currentThread().getName());

	private Ask(String key) {
		this.key = key;
		this.name = "name of " + key;
	}

	static Ask of(String key) {
		return new Ask(key);
	}

	static String newNonce() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	Ask unit(@Nullable String id) {
		return unit((id != null) ? RunUnit.of(id) : null);
	}

	Ask unit(@Nullable RunUnit unit) {
		this.unit = unit;
		return this;
	}

	Ask name(String name) {
		this.name = name;
		return this;
	}

	Ask attempt(int attempt) {
		this.attempt = attempt;
		return this;
	}

	Ask ttl(Duration ttl) {
		this.ttl = ttl;
		return this;
	}

	Ask floor(long floor) {
		this.floor = floor;
		return this;
	}

	Ask tokens(int tokens) {
		this.tokens = tokens;
		return this;
	}

	Ask permits(int permits) {
		this.permits = permits;
		return this;
	}

	Ask shared() {
		return permits(AcquireRequest.SHARED);
	}

	Ask waiter(String waiter) {
		return waiter(waiter, Duration.ofMinutes(1));
	}

	Ask waiter(String waiter, Duration lasting) {
		this.reservation = new AcquireRequest.Reservation(waiter, lasting);
		return this;
	}

	Ask owner(Owner owner) {
		this.owner = owner;
		return this;
	}

	Ask nonce(String nonce) {
		this.nonce = nonce;
		return this;
	}

	AcquireRequest request() {
		return new AcquireRequest(this.key, this.name, this.nonce, this.owner, this.ttl, this.floor, this.unit,
				this.attempt, this.tokens, this.permits, this.reservation);
	}

}
