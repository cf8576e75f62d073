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
	 * How long the work may take: where nobody renews a lock, its time is to be much
	 * longer than the work.
	 * @return the longest work
	 */
	Duration longestWork();

}
