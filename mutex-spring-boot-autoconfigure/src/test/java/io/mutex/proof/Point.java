package io.mutex.proof;

import java.util.Locale;

/**
 * Every step of a run at which a process can die.
 */
enum Point {

	/** Nothing has been sent. */
	BEFORE_ACQUIRE,

	/** The store has granted the key, and the answer is not seen. */
	AFTER_ACQUIRE,

	/** The grant is known, and the body has not begun. */
	GRANTED,

	/** The condition of {@code unless} is being evaluated, and will be true. */
	IN_UNLESS,

	/** The condition was true, and the record is about to be sent. */
	UNLESS_BEFORE_COMPLETE,

	/** The condition was true, the record is stored, and the answer is not seen. */
	UNLESS_AFTER_COMPLETE,

	/** The unit was found in doubt, and the key is about to be released. */
	IN_DOUBT_BEFORE_RELEASE,

	/** The unit was found in doubt, and the key is released. */
	IN_DOUBT_AFTER_RELEASE,

	/** The body has begun and had no effect yet. */
	BEFORE_EFFECT,

	/** The body has had its effect. */
	AFTER_EFFECT,

	/** The body has returned, and the record is about to be sent. */
	BEFORE_COMPLETE,

	/** The record is stored, and the answer is not seen. */
	AFTER_COMPLETE,

	/** The call has returned. */
	RETURNED,

	/** The body has thrown before its effect, and that is about to be sent. */
	BEFORE_FAIL,

	/** The failure is stored, and the answer is not seen. */
	AFTER_FAIL,

	/** The call has thrown what the body threw. */
	THROWN,

	/** The process does not die. */
	NONE;

	boolean isBefore(String operation) {
		return name().endsWith("BEFORE_" + operation.toUpperCase(Locale.ROOT));
	}

	boolean isAfter(String operation) {
		return name().endsWith("AFTER_" + operation.toUpperCase(Locale.ROOT));
	}

	boolean isOfUnless() {
		return this == IN_UNLESS || this == UNLESS_BEFORE_COMPLETE || this == UNLESS_AFTER_COMPLETE;
	}

	boolean isOfSkip() {
		return this == IN_DOUBT_BEFORE_RELEASE || this == IN_DOUBT_AFTER_RELEASE;
	}

	boolean isOfFailure() {
		return this == BEFORE_FAIL || this == AFTER_FAIL || this == THROWN;
	}

}
