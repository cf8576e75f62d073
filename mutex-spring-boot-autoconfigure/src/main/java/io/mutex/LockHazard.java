package io.mutex;

/**
 * Something about the locks of this process that the monitors have noticed: nothing has
 * failed yet, but work is or may be held up.
 *
 * @param kind what it is
 * @param key the key that is waited for, held or taken
 * @param name the declared text of the key
 * @param description one sentence for people
 */
public record LockHazard(Kind kind, String key, String name, String description) {

	/**
	 * What the monitors look for.
	 */
	public enum Kind {

		/** A thread has waited for a key longer than the limit. */
		STARVATION,

		/** A key has been held longer than the limit. */
		LONG_HOLD,

		/** A call holds more keys at once than the limit. */
		DEEP_NESTING,

		/**
		 * Two keys have been taken in both orders, which may become a {@link #DEADLOCK}.
		 */
		OPPOSITE_ORDERS,

		/** Threads of this process wait for each other. */
		DEADLOCK

	}

}
