package io.mutex.model;

/**
 * The protocol as it is, and what it would be without one of its rules.
 */
enum Variant {

	/** The protocol as it is. */
	CORRECT,

	/** The guard compares tokens with each write, and knows of no registration. */
	CHECK_ON_WRITE_ONLY,

	/** The guard takes an equal token for the same grant. */
	EQUAL_TOKEN_WITHOUT_NONCE,

	/** The record is looked for first, and the lock taken then. */
	RECORD_CHECKED_BEFORE_LOCK,

	/** The attempt is compared before the store recognises the nonce of the holder. */
	ATTEMPT_BEFORE_NONCE,

	/** A release frees the key, whoever holds it. */
	RELEASE_WITHOUT_COMPARING,

	/** The lease is believed from the moment its answer came. */
	DEADLINE_FROM_ANSWER,

	/** A worker that has lost its lease still records its success. */
	COMPLETION_AFTER_LOSS,

	/** A run that is skipped for a doubt removes the doubt. */
	SKIP_REMOVES_DOUBT,

	/** The check in the transaction reads the lock row and does not write it. */
	CHECK_THAT_READS,

	/** A request without an answer is taken for a grant. */
	UNKNOWN_TAKEN_FOR_GRANT

}
