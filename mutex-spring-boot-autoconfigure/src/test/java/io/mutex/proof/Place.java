package io.mutex.proof;

/**
 * Where a worker under a lease can be stopped for longer than that lasts.
 */
enum Place {

	/** The key is granted, and the guard has not heard of it. */
	BEFORE_REGISTRATION,

	/** What the write depends on is read. */
	AFTER_READ,

	/**
	 * All is checked, and the write is about to take effect: in a database between the
	 * check and the commit, at a file between the check and the replacement. Redis checks
	 * and writes in one step, so there it is between the worker's own look at its lease
	 * and that step.
	 */
	BEFORE_COMMIT

}
