package io.mutex.annotation;

/**
 * Whether the holders of a key exclude each other.
 */
public enum Mode {

	/**
	 * One holder at a time.
	 */
	EXCLUSIVE,

	/**
	 * Any number of holders that share, as the readers of a read-write lock; none of them
	 * beside an exclusive one.
	 */
	SHARED

}
