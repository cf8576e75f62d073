package io.mutex;

import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to {@link LockProvider#reopen(String, String)}.
 *
 * @param result what was done
 * @param removed what was remembered of the unit; {@code null} if nothing was removed
 * @param holder who holds the key, if that is why nothing was removed, else {@code null};
 * also {@code null} if the store could not say
 */
public record Reopening(Result result, @Nullable RunRecord removed, @Nullable HeldLock holder) {

	/**
	 * What was done.
	 */
	public enum Result {

		/** The unit is open, and nothing is remembered of it. */
		REOPENED,

		/** Nothing was remembered of the unit. */
		NOTHING,

		/**
		 * A run of this unit holds the key; where only the holder can write, a run of
		 * another unit too.
		 */
		HELD

	}

}
