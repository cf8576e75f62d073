package io.mutex.proof;

import io.mutex.Lease;
import io.mutex.testing.DelegatingLease;

/**
 * A lease whose holder can be stopped right after it has found it valid.
 */
final class WatchedLease extends DelegatingLease {

	private final Runnable foundValid;

	WatchedLease(Lease lease, Runnable foundValid) {
		super(lease);
		this.foundValid = foundValid;
	}

	@Override
	public void assertValid() {
		this.lease.assertValid();
		this.foundValid.run();
	}

}
