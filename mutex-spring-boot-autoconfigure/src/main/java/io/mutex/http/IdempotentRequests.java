package io.mutex.http;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

import io.mutex.http.IdempotencyStore.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by its idempotency key whether a request is processed or answered as before.
 * <p>
 * A key belongs to one user and one request: method, path, query and body, of which those
 * of forms and uploads are not compared. Requests that only read are always processed. An
 * answer of 500 and above, one that asks to try again (408, 409, 425, 429), an error that
 * is left to the server's error page, and an exception leave the key free, so that the
 * next request with it is processed.
 * <p>
 * What it cannot do: the effect of a request and the keeping of its answer are two steps.
 * If the process dies between them, the store alone knows that the request was begun:
 * until the key is forgotten it is answered with 409, and then processed again.
 */
public final class IdempotentRequests {

	/** The header of an answer that was given before. */
	static final String REPEATED = "Idempotency-Replayed";

	private static final Logger logger = LoggerFactory.getLogger(IdempotentRequests.class);

	private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");

	private static final Set<Integer> AGAIN = Set.of(408, 409, 425, 429);

	private static final Set<String> NOT_KEPT = Set.of("connection", "keep-alive", "transfer-encoding", "date",
			"content-length", "set-cookie");

	private final IdempotencyStore store;

	private final Duration ttl;

	private final int maxSize;

	/**
	 * Creates it.
	 * @param store where answers are kept
	 * @param ttl how long they are
	 * @param maxSize the largest body of a request, and of an answer that is kept, in
	 * bytes
	 */
	public IdempotentRequests(IdempotencyStore store, Duration ttl, int maxSize) {
		this.store = store;
		this.ttl = ttl;
		this.maxSize = maxSize;
	}

	int maxSize() {
		return this.maxSize;
	}

	static boolean isKeyed(String method, List<String> lines) {
		return !lines.isEmpty() && !IdempotencyKey.isReading(method);
	}

	// the body of a form is read by the server, and can be read once
	static boolean isComparable(@Nullable String contentType) {
		String type = (contentType != null) ? contentType.toLowerCase(Locale.ROOT) : "";
		return !type.startsWith("application/x-www-form-urlencoded") && !type.startsWith("multipart/");
	}

	static Problem tooLarge() {
		return Problem.of(413, "request-too-large", "The request is too large for an idempotency key",
				"Requests with the header " + IdempotencyKey.NAME + " are limited; this one was not processed");
	}

	/**
	 * Begins a request.
	 * @param lines the lines of its header
	 * @param user who sends it, or {@code null}
	 * @param request what it is
	 * @return the answer to give, or the claim of the key
	 * @throws RequestRefusedException if it must not be processed
	 */
	Begun begin(List<String> lines, @Nullable Principal user, String request) throws RequestRefusedException {
		if (lines.size() != 1 || !KEY.matcher(lines.get(0)).matches()) {
			throw new RequestRefusedException(Problem.of(400, "malformed-idempotency-key",
					"The idempotency key is malformed", "The header " + IdempotencyKey.NAME
							+ " has to be sent once, with 1 to 255 printable characters of ASCII and no blank"));
		}
		String key = ((user != null) ? user.getName() : "") + "\n" + lines.get(0);
		String claim = UUID.randomUUID().toString();
		Answer answer;
		try {
			answer = this.store.begin(key, request, claim, this.ttl);
		}
		catch (RuntimeException ex) {
			logger.warn("cannot look up an idempotency key", ex);
			throw new RequestRefusedException(
					Problem.passing(503, "idempotency-unavailable", "The idempotency key cannot be checked",
							"The store of answers did not answer; the request was not " + "processed"),
					ex);
		}
		if (answer instanceof Answer.Completed completed) {
			return new Begun(key, claim, whole(completed.response()));
		}
		if (answer instanceof Answer.InProgress) {
			throw new RequestRefusedException(Problem.passing(409, "request-in-progress",
					"The request is being processed", "A request with this idempotency key has not been answered yet"));
		}
		if (answer instanceof Answer.Different) {
			throw new RequestRefusedException(
					Problem.of(422, "idempotency-key-reused", "The idempotency key was used for another request",
							"Method, path, query or body differ from those of the first request with this key"));
		}
		return new Begun(key, claim, null);
	}

	private static StoredResponse whole(StoredResponse response) throws RequestRefusedException {
		if (!response.whole()) {
			throw new RequestRefusedException(new Problem(409, "answer-not-kept", "The request was processed before",
					"Its answer was too large to be given again", Map.of("answered", response.status()), false));
		}
		return response;
	}

	/**
	 * Ends a request that was processed.
	 * @param begun the request
	 * @param status the status of its answer
	 * @param headers the headers of its answer
	 * @param body the body of its answer, or {@code null} if it is not known
	 */
	void end(Begun begun, int status, Map<String, List<String>> headers, byte @Nullable [] body) {
		if (status >= 500 || AGAIN.contains(status)) {
			abandon(begun);
			return;
		}
		Map<String, List<String>> kept = new TreeMap<>();
		headers.forEach((name, values) -> {
			if (!NOT_KEPT.contains(name.toLowerCase(Locale.ROOT))) {
				kept.put(name, List.copyOf(values));
			}
		});
		boolean whole = body != null && body.length <= this.maxSize;
		try {
			this.store.complete(begun.key(), begun.claim(),
					new StoredResponse(status, kept, (whole && body != null) ? body : new byte[0], whole), this.ttl);
		}
		catch (RuntimeException ex) {
			logger.warn("cannot keep the answer to a request with an idempotency key; a repeated one is answered with "
					+ "409 until the key is forgotten", ex);
		}
	}

	void abandon(Begun begun) {
		try {
			this.store.abandon(begun.key(), begun.claim());
		}
		catch (RuntimeException ex) {
			logger.warn("cannot free an idempotency key; a repeated request is answered with 409 until it is forgotten",
					ex);
		}
	}

	/**
	 * A request that has been looked up.
	 *
	 * @param key the key in the store
	 * @param claim the claim of the key
	 * @param answer how to answer it, or {@code null} if it has to be processed
	 */
	record Begun(String key, String claim, @Nullable StoredResponse answer) {

	}

}
