package io.mutex.engine;

import java.util.Optional;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a request can ask for at all, and which lease of its call path it enters again.
 *
 * @param guards the guards, which know the store
 */
record Reentrance(Guards guards) {

	/**
	 * Refuses what cannot work.
	 * @param request the request
	 * @throws IllegalArgumentException if several holders are to have a unit, or a token
	 * that guards check
	 */
	static void check(LockRequest request) {
		if (request.permits() == 1) {
			return;
		}
		if (request.unit() != null) {
			throw new IllegalArgumentException("key '" + request.key() + "' was asked for with several permits and "
					+ "unit '" + request.unit().id() + "': a run has one holder; leave out the permits, or the unit");
		}
		if (request.fencing().mode() != FencingPolicy.Mode.NONE) {
			throw new IllegalArgumentException("key '" + request.key() + "' was asked for with several permits and "
					+ "fencing " + request.fencing().mode() + ": a guard knows one holder; add "
					+ "withFencing(FencingPolicy.NONE), or leave out the permits");
		}
	}

	/**
	 * Finds the lease of this call path that a request enters again.
	 * @param request the request
	 * @return the lease, or {@code null} if the key has to be asked for
	 * @throws MutexException if the request asks for more than the lease is, or the lease
	 * is lost
	 */
	@Nullable HeldLease find(LockRequest request) {
		Optional<Lease> outer = Leases.find(request.key());
		if (outer.isEmpty()) {
			return null;
		}
		Lease lease = outer.get();
		if (lease instanceof HeldLease held && held.isCommitted()) {
			// its end is committed, and only what the transaction has to do after it is
			// left
			return null;
		}
		lease.assertValid();
		if (!(lease instanceof HeldLease held) || !isOfThisStore(held)) {
			// the key of another store, which knows nothing of this one's
			return null;
		}
		RunUnit unit = request.unit();
		if (unit != null && !unit.id().equals(lease.unit())) {
			throw new MutexException(request.key(),
					"key '" + request.key() + "' is held by this call "
							+ ((lease.unit() != null) ? "for unit '" + lease.unit() + "'" : "without a unit")
							+ " and cannot be entered again for unit '" + unit.id() + "'; the work was not run");
		}
		if (held.grant().shared() && request.permits() == 1) {
			throw new MutexException(request.key(), "key '" + request.key() + "' is shared by this call and cannot be "
					+ "entered again for this call alone, since it would wait for itself: ask for it exclusively "
					+ "outside; the work was not run");
		}
		if (request.permits() < held.grant().permits()) {
			throw new MutexException(request.key(),
					"key '" + request.key()
							+ "' is held by this call as one of several, and cannot be entered again as " + "one of "
							+ request.permits()
							+ ", since more may be inside: ask for the fewest permits outside; the work was not run");
		}
		this.guards.register(held, request.fencing());
		return held;
	}

	// parent and child contexts have an engine each, and one store
	private boolean isOfThisStore(HeldLease lease) {
		return lease.fenced().guards().provider() == this.guards.provider();
	}

}
