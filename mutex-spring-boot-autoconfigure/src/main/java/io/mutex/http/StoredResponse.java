package io.mutex.http;

import java.util.List;
import java.util.Map;

/**
 * The answer to a request, kept to answer the same request again.
 */
public final class StoredResponse {

	private final int status;

	private final Map<String, List<String>> headers;

	private final byte[] body;

	private final boolean whole;

	/**
	 * Creates it.
	 * @param status the status
	 * @param headers the headers that belong to the answer
	 * @param body the body, empty if it is not kept
	 * @param whole whether the body is kept; otherwise it was too large
	 */
	public StoredResponse(int status, Map<String, List<String>> headers, byte[] body, boolean whole) {
		this.status = status;
		this.headers = Map.copyOf(headers);
		this.body = body.clone();
		this.whole = whole;
	}

	public int status() {
		return this.status;
	}

	public Map<String, List<String>> headers() {
		return this.headers;
	}

	public byte[] body() {
		return this.body.clone();
	}

	int size() {
		return this.body.length;
	}

	public boolean whole() {
		return this.whole;
	}

}
