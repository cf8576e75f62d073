package io.mutex;

/**
 * The lease ended before the protected work did: it could not be renewed in time, was
 * freed by force, or was held longer than allowed. Another holder may be at work.
 */
public class LeaseLostException extends MutexException {

	private static final long serialVersionUID = 1L;

	private final FencingToken token;

	public LeaseLostException(String key, FencingToken token, String reason) {
		super(key, "the lease of key '" + key + "' with token " + token + " is lost: " + reason
				+ "; the work done under it is not recorded as a success");
		this.token = token;
	}

	/**
	 * The token of the lost lease.
	 * @return the token
	 */
	public FencingToken getToken() {
		return this.token;
	}

}
