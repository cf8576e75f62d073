package io.mutex.benchmarks;

/**
 * Something that is locked, done and unlocked again.
 */
@FunctionalInterface
interface Work {

	/**
	 * Takes the lock, runs the body and frees the lock.
	 * @param body what runs under the lock
	 * @throws Exception if it cannot be locked
	 */
	void run(Runnable body) throws Exception;

}
