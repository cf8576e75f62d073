package io.mutex;

/**
 * What proves to a guard that a write belongs to the latest holder of a resource.
 *
 * @param resource the guarded resource, valid by {@link Keys#requireValid(String)}
 * @param key the key whose holder may write to it; a resource belongs to one key, since
 * the tokens of different keys cannot be compared
 * @param token the token of the grant
 * @param nonce the nonce of the grant, without which an equal token proves nothing
 * @param strict whether the grant has to be registered before it writes; otherwise a
 * write registers it
 */
public record Fence(String resource, String key, FencingToken token, String nonce, boolean strict) {

	public Fence {
		Keys.requireValid(resource);
	}

	/**
	 * The fence of a lease at a resource.
	 * @param resource the resource
	 * @param lease the lease of its key
	 * @return a strict fence
	 */
	public static Fence of(String resource, Lease lease) {
		return new Fence(resource, lease.key(), lease.token(), lease.nonce(), true);
	}

	/**
	 * Whether a guard that has accepted a grant accepts this one as a later one.
	 * @param token the token that it has accepted
	 * @param nonce the nonce that it has accepted
	 * @return {@code true} for a higher token and for the same grant
	 */
	public boolean follows(long token, String nonce) {
		return this.token.value() > token || isOf(token, nonce);
	}

	/**
	 * Whether this is the fence of a grant.
	 * @param token the token of the grant
	 * @param nonce the nonce of the grant
	 * @return {@code true} if both are the same
	 */
	public boolean isOf(long token, String nonce) {
		return this.token.value() == token && this.nonce.equals(nonce);
	}

}
