package io.mutex;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The right to hold a key until a deadline, renewed by the engine while the protected
 * work runs.
 */
public interface Lease {

	/**
	 * The key that is held.
	 * @return the evaluated key
	 */
	String key();

	/**
	 * The declared text that the key was evaluated from.
	 * @return the name, the only form that is fit for a metric tag
	 */
	String name();

	/**
	 * The number of this grant.
	 * @return the token, higher than that of every earlier grant of this key
	 */
	FencingToken token();

	/**
	 * What proves the ownership of this grant to the store, beside the token.
	 * @return 32 hexadecimal digits, new for every grant of the store
	 */
	String nonce();

	/**
	 * The unit whose run holds the key.
	 * @return the unit, or {@code null} if the lease belongs to none
	 */
	@Nullable String unit();

	/**
	 * Whether another holder of this process has handed the key over instead of giving it
	 * back to the store. The token of such a lease is one of a range that the store has
	 * reserved before, and the nonce is that of the grant that the holders share.
	 * @return {@code false} if the store has granted the key to this lease alone
	 */
	default boolean isHandedOver() {
		return false;
	}

	/**
	 * Whether the key is still held, by this process's own clocks. A pause may follow the
	 * answer: only a guard at the storage can refuse a late write.
	 * @return {@code false} for ever once the lease is lost or released
	 */
	boolean isValid();

	/**
	 * How long the lease stays valid if it is not renewed again.
	 * @return the time left, zero once it is lost, or {@code null} if the store frees the
	 * key with the process and the lease has no deadline
	 */
	@Nullable Duration remaining();

	/**
	 * The time since the grant, or from the grant to the end of the work.
	 * @return the time, zero if it is not known
	 */
	default Duration heldFor() {
		return Duration.ZERO;
	}

	/**
	 * What the guards of the storage know this grant by.
	 * @return a fence for each resource, empty if nobody checks the token
	 */
	default List<Fence> fences() {
		return List.of();
	}

	/**
	 * Tells the engine that a guard has refused this grant, so that it is logged and
	 * counted. For guards that the application calls by itself.
	 * @param refusal what the guard has thrown
	 */
	default void refused(StaleFencingTokenException refusal) {
	}

	/**
	 * Throws unless the key is still held.
	 * @throws LeaseLostException if {@link #isValid()} is {@code false}
	 */
	default void assertValid() {
		if (!isValid()) {
			throw new LeaseLostException(key(), token(), "it is no longer valid");
		}
	}

}
