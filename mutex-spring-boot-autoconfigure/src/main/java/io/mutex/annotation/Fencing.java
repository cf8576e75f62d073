package io.mutex.annotation;

/**
 * When the storage that a method writes to refuses an earlier holder. That takes a guard
 * at the storage; a method without one checks the token in its own statements.
 */
public enum Fencing {

	/**
	 * From before the method starts: the token is registered first. What the method reads
	 * can be changed and written back.
	 */
	STRICT,

	/**
	 * From the first write of the method. Not safe for a value that is read, changed and
	 * written back.
	 */
	ON_WRITE,

	/**
	 * Never: nobody checks the token.
	 */
	NONE

}
