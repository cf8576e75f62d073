package io.mutex.http;

import java.time.Duration;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * The lease of the sender of a request, as far as its receiver knows it: whether the
 * sender still holds it is not known.
 */
final class RemoteLease implements Lease {

	private final Fence fence;

	private final FencedRequests requests;

	private final long began = System.nanoTime();

	private volatile boolean ended;

	RemoteLease(Fence fence, FencedRequests requests) {
		this.fence = fence;
		this.requests = requests;
	}

	@Override
	public String key() {
		return this.fence.key();
	}

	@Override
	public String name() {
		return this.fence.key();
	}

	@Override
	public FencingToken token() {
		return this.fence.token();
	}

	@Override
	public String nonce() {
		return this.fence.nonce();
	}

	@Override
	public @Nullable String unit() {
		return null;
	}

	@Override
	public boolean isValid() {
		return !this.ended;
	}

	@Override
	public @Nullable Duration remaining() {
		return this.ended ? Duration.ZERO : null;
	}

	@Override
	public Duration heldFor() {
		return Duration.ofNanos(System.nanoTime() - this.began);
	}

	@Override
	public List<Fence> fences() {
		return List.of(this.fence);
	}

	@Override
	public void refused(StaleFencingTokenException refusal) {
		this.requests.refused(this, refusal);
	}

	String resource() {
		return this.fence.resource();
	}

	void end() {
		this.ended = true;
	}

}
