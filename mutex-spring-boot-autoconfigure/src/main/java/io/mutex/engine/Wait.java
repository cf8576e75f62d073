package io.mutex.engine;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.mutex.Lease;
import io.mutex.LockHazard.Kind;
import io.mutex.LockRequest;

/**
 * A thread of this process that waits for a key, while it may hold others.
 */
final class Wait {

	private final LockRequest request;

	private final List<Lease> held;

	private final String thread;

	private final long since;

	private final Set<Kind> told = EnumSet.noneOf(Kind.class);

	Wait(LockRequest request, List<Lease> held, long since) {
		this.request = request;
		this.held = held;
		this.thread = Thread.currentThread().getName();
		this.since = since;
	}

	String key() {
		return this.request.key();
	}

	String name() {
		return this.request.name();
	}

	// how many may hold the key at once, the waiting thread included
	int permits() {
		return this.request.permits();
	}

	// the leases that stay held while the thread waits
	List<Lease> held() {
		return this.held;
	}

	Duration waitedUntil(long now) {
		return Duration.ofNanos(now - this.since);
	}

	// whether the hazard is new, asked by the thread of the monitors alone
	boolean tell(Kind hazard) {
		return this.told.add(hazard);
	}

	@Override
	public String toString() {
		String keys = this.held.stream().map(Lease::key).collect(Collectors.joining("', '"));
		return "thread '" + this.thread + "'" + (keys.isEmpty() ? "" : " holds '" + keys + "' and") + " waits for '"
				+ key() + "'";
	}

}
