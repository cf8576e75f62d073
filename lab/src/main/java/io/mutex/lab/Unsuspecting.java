package io.mutex.lab;

import java.time.Duration;

import io.mutex.Lease;
import io.mutex.testing.DelegatingLease;
import org.jspecify.annotations.Nullable;

/**
 * A lease whose holder has looked at the clock before a pause, and believes in it.
 */
final class Unsuspecting extends DelegatingLease {

	Unsuspecting(Lease lease) {
		super(lease);
	}

	@Override
	public boolean isValid() {
		return true;
	}

	@Override
	public @Nullable Duration remaining() {
		return null;
	}

}
