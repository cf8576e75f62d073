package io.mutex.lab;

import java.time.Duration;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import org.jspecify.annotations.Nullable;

/**
 * A lease whose holder has looked at the clock before a pause, and believes in it.
 *
 * @param lease the lease as it is
 */
record Unsuspecting(Lease lease) implements Lease {

	@Override
	public String key() {
		return this.lease.key();
	}

	@Override
	public String name() {
		return this.lease.name();
	}

	@Override
	public FencingToken token() {
		return this.lease.token();
	}

	@Override
	public String nonce() {
		return this.lease.nonce();
	}

	@Override
	public @Nullable String unit() {
		return this.lease.unit();
	}

	@Override
	public List<Fence> fences() {
		return this.lease.fences();
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
