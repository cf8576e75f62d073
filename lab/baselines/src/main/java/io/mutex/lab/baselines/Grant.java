package io.mutex.lab.baselines;

import java.time.Duration;
import java.util.UUID;

import io.mutex.FencingToken;
import io.mutex.Lease;
import org.jspecify.annotations.Nullable;

/**
 * A lock of another library that was taken, as the laboratory sees it. It is valid until
 * the library says otherwise, or for as long as its documentation promises.
 */
final class Grant implements Lease {

	private final String key;

	private final FencingToken token;

	private final String nonce = UUID.randomUUID().toString().replace("-", "");

	private final long asked;

	private final @Nullable Duration promised;

	private final Runnable release;

	private Grant(String key, long token, long asked, @Nullable Duration promised, Runnable release) {
		this.key = key;
		this.token = new FencingToken(token);
		this.asked = asked;
		this.promised = promised;
		this.release = release;
	}

	/**
	 * A lock that somebody renews until it is released.
	 * @param key the key
	 * @param release releases it
	 * @return the grant
	 */
	static Grant renewed(String key, Runnable release) {
		return new Grant(key, System.nanoTime(), 0, null, release);
	}

	/**
	 * A lock that somebody renews until it is released, and that has a token.
	 * @param key the key
	 * @param token the token
	 * @param release releases it
	 * @return the grant
	 */
	static Grant fenced(String key, long token, Runnable release) {
		return new Grant(key, token, 0, null, release);
	}

	/**
	 * A lock that ends by itself.
	 * @param key the key
	 * @param asked the monotonic time at which it was asked for
	 * @param promised how long it was asked for
	 * @param release releases it
	 * @return the grant
	 */
	static Grant limited(String key, long asked, Duration promised, Runnable release) {
		return new Grant(key, System.nanoTime(), asked, promised, release);
	}

	void release() {
		this.release.run();
	}

	@Override
	public String key() {
		return this.key;
	}

	@Override
	public String name() {
		return this.key;
	}

	/**
	 * The token of the library, or the time of the grant where it has none: the checker
	 * wants to know the order of the grants.
	 * @return the token
	 */
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
		return null;
	}

	@Override
	public boolean isValid() {
		return this.promised == null || System.nanoTime() - this.asked < this.promised.toNanos();
	}

	@Override
	public @Nullable Duration remaining() {
		return (this.promised != null) ? this.promised.minusNanos(System.nanoTime() - this.asked) : null;
	}

}
