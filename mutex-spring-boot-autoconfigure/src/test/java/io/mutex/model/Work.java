package io.mutex.model;

/**
 * What the workers do under their lease.
 */
enum Work {

	/** Read, change and write back behind a guard. */
	FENCED,

	/** An effect that nothing takes back, and the record after it. */
	RECORDED_AFTER,

	/** An effect and its record in one transaction of the store. */
	RECORDED_IN_TRANSACTION

}
