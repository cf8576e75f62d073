package io.mutex;

import java.time.Duration;

import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to {@link LockProvider#acquire(AcquireRequest)}.
 */
public sealed interface Acquisition {

	/**
	 * The key is held by the asking nonce.
	 *
	 * @param firstToken the first of the reserved tokens
	 * @param token the last of them, which the store has kept
	 * @param attempt the number of this attempt of the unit; 0 without a unit
	 * @param doubt the earlier run of this unit that began and has no outcome, or
	 * {@code null}
	 */
	record Granted(long firstToken, long token, int attempt, @Nullable RunRecord doubt) implements Acquisition {

	}

	/**
	 * The unit has succeeded.
	 *
	 * @param record the recorded success
	 */
	record Done(RunRecord record) implements Acquisition {

	}

	/**
	 * The unit begins too far in the future, by the store's clock.
	 *
	 * @param offset how far it lies ahead of the store's time
	 */
	record TooEarly(Duration offset) implements Acquisition {

	}

	/**
	 * The nonce has been used up: it has released, or its lease has expired.
	 */
	record Stale() implements Acquisition {

	}

	/**
	 * Another nonce holds the key.
	 *
	 * @param holder who holds it, or {@code null} if the store could not say
	 * @param unit the unit whose run holds it, or {@code null}
	 * @param remaining the time left of its lease, zero if it is not known, or
	 * {@code null} if the lease has no deadline
	 */
	record Held(@Nullable Owner holder, @Nullable String unit, @Nullable Duration remaining) implements Acquisition {

	}

	/**
	 * The attempt that was asked for is not due.
	 *
	 * @param last the last attempt, as the store has it
	 * @param remaining how long until the next attempt may begin, zero if it may now
	 */
	record NotYet(RunRecord last, Duration remaining) implements Acquisition {

	}

	/**
	 * The store has lost data, and grants nothing while holders that it no longer knows
	 * may still be at work.
	 *
	 * @param remaining how long this lasts
	 */
	record HeldBack(Duration remaining) implements Acquisition {

	}

}
