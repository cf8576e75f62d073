package io.mutex.testing;

import java.time.Duration;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * A lease that looks different in something from the one that was granted.
 */
public abstract class DelegatingLease implements Lease {

	protected final Lease lease;

	protected DelegatingLease(Lease lease) {
		this.lease = lease;
	}

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
	public boolean isValid() {
		return this.lease.isValid();
	}

	@Override
	public @Nullable Duration remaining() {
		return this.lease.remaining();
	}

	@Override
	public List<Fence> fences() {
		return this.lease.fences();
	}

	@Override
	public void refused(StaleFencingTokenException refusal) {
		this.lease.refused(refusal);
	}

}
