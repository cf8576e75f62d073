package io.mutex;

/**
 * A storage refused a write, because it has accepted a later holder of the resource.
 */
public class StaleFencingTokenException extends MutexException {

	private static final long serialVersionUID = 1L;

	private final String resource;

	private final FencingToken token;

	private final FencingToken accepted;

	public StaleFencingTokenException(String resource, FencingToken token, FencingToken accepted) {
		super(null, "resource '" + resource + "' refused fencing token " + token + ": it has accepted " + accepted);
		this.resource = resource;
		this.token = token;
		this.accepted = accepted;
	}

	/**
	 * The guarded resource.
	 * @return its name
	 */
	public String getResource() {
		return this.resource;
	}

	/**
	 * The token that was refused.
	 * @return the token of the caller
	 */
	public FencingToken getToken() {
		return this.token;
	}

	/**
	 * The token that the resource has accepted last.
	 * @return the accepted token
	 */
	public FencingToken getAccepted() {
		return this.accepted;
	}

}
