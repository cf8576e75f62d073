package io.mutex.lab.baselines;

import java.time.Duration;
import java.util.Optional;

/**
 * The locks of one library, taken as its documentation says.
 */
interface Locks {

	/**
	 * Takes a lock.
	 * @param key the key
	 * @param wait how long to wait for it
	 * @return the grant, empty if others hold the lock
	 * @throws InterruptedException if the thread is interrupted
	 */
	Optional<Grant> take(String key, Duration wait) throws InterruptedException;

	/**
	 * Takes the lock of a job that is to run once a second.
	 * @param key the key
	 * @return the grant, empty if it is not to run now
	 */
	default Optional<Grant> takeJob(String key) {
		throw new UnsupportedOperationException("Jobs are not known here");
	}

	/**
	 * Whether the library has jobs that run once.
	 * @return {@code true} if {@link #takeJob} can be called
	 */
	default boolean hasJobs() {
		return false;
	}

	/**
	 * How long the work may take: where nobody renews a lock, its time is to be much
	 * longer than the work.
	 * @return the longest work
	 */
	Duration longestWork();

}
