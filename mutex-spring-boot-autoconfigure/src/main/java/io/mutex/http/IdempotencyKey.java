package io.mutex.http;

import java.net.URI;
import java.util.Set;

import io.mutex.Lease;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;

/**
 * The idempotency key of a request that is sent under a lease: the same for one that is
 * sent again, by this run or by the next run of its unit, and another for each that is
 * meant. Requests that only read have none.
 *
 * @param lease the lease
 * @param request what equal requests of the lease have in common
 * @param ordinal the number among them
 */
record IdempotencyKey(Lease lease, String request, int ordinal) {

	/** The name of the header. */
	static final String NAME = "Idempotency-Key";

	private static final Set<Integer> OPEN = Set.of(408, 425, 429);

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	static boolean isReading(String method) {
		return READING.contains(method);
	}

	/**
	 * Chooses the key of a request.
	 * @param ordinals the numbers that are taken
	 * @param lease the lease
	 * @param method the method of the request
	 * @param uri where it goes
	 * @param body its body
	 * @return the key
	 */
	static IdempotencyKey choose(RequestOrdinals ordinals, Lease lease, String method, URI uri, byte[] body) {
		String unit = lease.unit();
		String request = new Digest().add(lease.key())
			.add((unit != null) ? "unit" : "nonce")
			.add((unit != null) ? unit : lease.nonce() + ":" + lease.token())
			.add(method)
			.add(uri.toASCIIString())
			.add(body)
			.text();
		return new IdempotencyKey(lease, request, ordinals.take(lease, request));
	}

	/**
	 * Whether an answer leaves open what became of the request, so that it may be sent
	 * again.
	 * @param status the status of the answer
	 * @param headers the headers of the answer
	 * @return {@code true} for a failure of the server, and for an answer that asks to
	 * try again
	 */
	static boolean isOpen(HttpStatusCode status, HttpHeaders headers) {
		return status.is5xxServerError() || OPEN.contains(status.value())
				|| headers.containsHeader(HttpHeaders.RETRY_AFTER);
	}

	/**
	 * Lets the next equal request have this key.
	 * @param ordinals the numbers that are taken
	 */
	void reuse(RequestOrdinals ordinals) {
		ordinals.free(this.lease, this.request, this.ordinal);
	}

	String value() {
		return new Digest().add(this.request).add(Integer.toString(this.ordinal)).text();
	}

}
