package io.mutex.annotation;

/**
 * What a call does when an earlier run of its unit began and died, so that nobody knows
 * how far it came.
 */
public enum OnInDoubt {

	/**
	 * The method runs again: its effect may happen twice.
	 */
	RERUN,

	/**
	 * The doubt is reported, and the method does not run again in this unit: its effect
	 * may be missing.
	 */
	SKIP

}
