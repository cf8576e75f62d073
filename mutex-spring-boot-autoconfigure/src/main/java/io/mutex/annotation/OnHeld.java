package io.mutex.annotation;

/**
 * What a call does when another run holds the key and the time to wait is over.
 */
public enum OnHeld {

	/**
	 * The method is not run, and the call returns an empty result.
	 */
	SKIP,

	/**
	 * The call throws {@link io.mutex.LockNotAcquiredException}.
	 */
	FAIL

}
