package io.mutex.engine;

import java.time.Duration;

import io.mutex.LockProvider.Grant;

/**
 * The part that one holder has in a grant of the store. Holders of one process may use a
 * grant in turn, each with a token of its own out of those that the grant has reserved,
 * so that a key that many of them want costs no call of the store for each. The number of
 * turns and the time in which they may begin are bounded, so that other processes are not
 * kept waiting.
 *
 * @param grant what the store knows, the same for all turns
 * @param token the token of this turn, at most the grant's
 * @param validity how long the grant is believed unless it is renewed
 * @param end until when another turn may begin, by the monotonic clock
 * @param handedOver whether another holder of this process had the turn before
 * @see <a href="https://doi.org/10.1145/2145816.2145848">D. Dice, V. Marathe, N. Shavit,
 * Lock Cohorting: A General Technique for Designing NUMA Locks, PPoPP 2012</a>
 */
record Turn(Grant grant, long token, Validity validity, long end, boolean handedOver) {

	/** How many turns a grant has at most. */
	static final int MOST = 64;

	/** In which part of its lease a grant may be handed over. */
	private static final int PART = 10;

	/**
	 * The first turn of a grant.
	 * @param grant the grant
	 * @param token the first of its tokens
	 * @param validity how long the grant is believed
	 * @return the turn
	 */
	static Turn first(Grant grant, long token, Validity validity) {
		return new Turn(grant, token, validity, validity.sentMonotonic() + grant.ttl().toNanos() / PART, false);
	}

	/**
	 * Whether no other turn may follow, whenever this one ends.
	 * @return {@code false} if the grant has tokens left
	 */
	boolean isLast() {
		return this.token >= this.grant.token();
	}

	/**
	 * Whether another turn may begin now.
	 * @param time the clocks
	 * @param validity how long the grant is believed now
	 * @return {@code false} once the grant has to go back to the store
	 */
	boolean mayBeFollowed(TimeSource time, Validity validity) {
		return !isLast() && time.monotonicNanos() - this.end < 0
				&& validity.remaining(time) > this.grant.ttl().toNanos() / 2;
	}

	Turn next(Validity validity) {
		return new Turn(this.grant, this.token + 1, validity, this.end, true);
	}

	/**
	 * Whether a request for a lease of this length may have a turn.
	 * @param ttl the length
	 * @return {@code true} for the length that the store has granted
	 */
	boolean lasts(Duration ttl) {
		return this.grant.ttl().equals(ttl);
	}

}
