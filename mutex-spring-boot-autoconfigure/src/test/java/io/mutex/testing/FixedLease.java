package io.mutex.testing;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * A lease that no store has granted and no clock ends: as that of a worker who has not
 * noticed that it was stopped.
 */
public final class FixedLease implements Lease {

	private final String key;

	private final FencingToken token;

	private final String nonce;

	private final @Nullable String unit;

	private final Queue<StaleFencingTokenException> refusals = new ConcurrentLinkedQueue<>();

	private volatile boolean valid = true;

	public FixedLease(String key, long token, String nonce) {
		this(key, token, nonce, null);
	}

	public FixedLease(String key, long token, String nonce, @Nullable String unit) {
		this.key = key;
		this.token = new FencingToken(token);
		this.nonce = nonce;
		this.unit = unit;
	}

	/**
	 * Lets the lease be lost.
	 * @return this lease
	 */
	public FixedLease lose() {
		this.valid = false;
		return this;
	}

	public List<StaleFencingTokenException> refusals() {
		return List.copyOf(this.refusals);
	}

	@Override
	public String key() {
		return this.key;
	}

	@Override
	public String name() {
		return this.key;
	}

	@Override
	public FencingToken token() {
		return this.token;
	}

	@Override
	public String nonce() {
		return this.nonce;
	}

	@Override
	public @Nullable String unit() {
		return this.unit;
	}

	@Override
	public boolean isValid() {
		return this.valid;
	}

	@Override
	public @Nullable Duration remaining() {
		return this.valid ? null : Duration.ZERO;
	}

	@Override
	public List<Fence> fences() {
		return List.of(Fence.of(this.key, this));
	}

	@Override
	public void refused(StaleFencingTokenException refusal) {
		this.refusals.add(refusal);
	}

}
