package io.mutex.proof;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.proof.Guarding.Opened;
import org.jspecify.annotations.Nullable;

/**
 * An instance of an application that writes to a ledger under leases, of a second unless
 * said otherwise. It takes no notice of an interrupt.
 */
final class GuardedWorker implements AutoCloseable {

	static final Duration LEASE = Duration.ofSeconds(1);

	private final Opened opened;

	private final LockEngine engine;

	private final ThreadLocal<@Nullable Observer> observer = new ThreadLocal<>();

	GuardedWorker(Guarding guarding, Addresses addresses, String namespace, String instance) {
		this(guarding.open(addresses, namespace), instance, LEASE);
	}

	GuardedWorker(Opened opened, String instance, Duration lease) {
		this.opened = opened;
		this.engine = new LockEngine(this.opened.locks(), new EngineSettings(instance, lease, null, lease, null, false,
				Duration.ofMillis(50), Duration.ofMillis(250), Duration.ofDays(90)), List.of(new Listener()));
		this.engine.guardBy(this.opened.guards());
	}

	Ledger ledger() {
		return this.opened.ledger();
	}

	/**
	 * Writes once under a lease.
	 * @param key the key
	 * @param waitFor how long to wait for it
	 * @param fencing whether the storage is to refuse earlier holders
	 * @param observer told what happens
	 * @return the token under which it was written
	 */
	long add(String key, Duration waitFor, FencingPolicy fencing, Observer observer) {
		this.observer.set(observer);
		try {
			LockRequest request = LockRequest.of(key).withWaitFor(waitFor).withFencing(fencing);
			return this.engine.execute(request, (lease) -> {
				ledger().add(lease, (place) -> observer.passing(lease, place));
				return lease.token().value();
			});
		}
		finally {
			this.observer.remove();
		}
	}

	@Override
	public void close() {
		this.engine.close();
		this.opened.close();
	}

	/**
	 * Told what happens while a worker writes, on its thread.
	 */
	interface Observer {

		/** Wants to know nothing. */
		Observer NOBODY = (lease, place) -> {
		};

		/**
		 * The work passes a place.
		 * @param lease its lease
		 * @param place the place
		 */
		void passing(Lease lease, Place place);

		/**
		 * A guard has refused the lease.
		 * @param refusal what it said
		 */
		default void refused(StaleFencingTokenException refusal) {
		}

	}

	private final class Listener implements MutexListener {

		@Override
		public void granted(Lease lease) {
			// what is guarded without being told of a grant registers it by itself
			if (!GuardedWorker.this.opened.guards().isEmpty()) {
				tell((observer) -> observer.passing(lease, Place.BEFORE_REGISTRATION));
			}
		}

		@Override
		public void refused(Lease lease, StaleFencingTokenException refusal) {
			tell((observer) -> observer.refused(refusal));
		}

		private void tell(Consumer<Observer> what) {
			Observer observer = GuardedWorker.this.observer.get();
			if (observer != null) {
				what.accept(observer);
			}
		}

	}

}
