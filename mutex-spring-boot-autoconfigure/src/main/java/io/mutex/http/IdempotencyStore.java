package io.mutex.http;

import java.time.Duration;

/**
 * Remembers the answers to requests with an idempotency key. One that is shared by all
 * instances of an application makes it answer a repeated request once for all of them.
 */
public interface IdempotencyStore {

	/**
	 * Claims a key in one atomic step, unless it is taken.
	 * @param key the key, with the name of its user
	 * @param request what the request is, equal for equal requests
	 * @param claim a new text that nobody else has
	 * @param ttl how long the key is remembered; after that, also that of a request whose
	 * process has died is free again
	 * @return {@link Answer.Claimed} if the request may be processed now
	 * @throws io.mutex.MutexException if the store did not answer, so that the request
	 * must not be processed
	 */
	Answer begin(String key, String request, String claim, Duration ttl);

	/**
	 * Keeps the answer to the request that has claimed a key. Changes nothing if the
	 * claim is no longer that of the key.
	 * @param key the key
	 * @param claim the claim
	 * @param response the answer
	 * @param ttl how long it is remembered
	 * @throws io.mutex.MutexException if the answer may not be kept
	 */
	void complete(String key, String claim, StoredResponse response, Duration ttl);

	/**
	 * Frees a key whose request was not processed to its end. Changes nothing if the
	 * claim is no longer that of the key.
	 * @param key the key
	 * @param claim the claim
	 * @throws io.mutex.MutexException if the key may not be free
	 */
	void abandon(String key, String claim);

	/**
	 * What a store knows of a key.
	 */
	sealed interface Answer {

		/**
		 * The key was free and is claimed.
		 */
		record Claimed() implements Answer {

		}

		/**
		 * The same request is being processed.
		 */
		record InProgress() implements Answer {

		}

		/**
		 * The key belongs to another request.
		 */
		record Different() implements Answer {

		}

		/**
		 * The same request has been answered.
		 *
		 * @param response the answer
		 */
		record Completed(StoredResponse response) implements Answer {

		}

	}

}
