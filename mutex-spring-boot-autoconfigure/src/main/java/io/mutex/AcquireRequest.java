package io.mutex;

import java.time.Duration;
import java.util.regex.Pattern;

import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a store to acquire a key.
 *
 * @param key the key, valid by {@link Keys#requireValid(String)}
 * @param name the declared text that the key was evaluated from, for listings; what is
 * longer than {@value #MAX_NAME} characters is cut, and control characters are replaced
 * @param nonce 32 hexadecimal digits, new for every acquisition; a repeated request
 * carries the same
 * @param owner who asks, for listings
 * @param ttl the length of the lease, at least a millisecond
 * @param floor the token must be higher than this; 0 if nothing is known
 * @param unit the unit whose record is looked up, or {@code null} for a lock without
 * records
 * @param attempt the number this attempt must have, or 0 for whichever is next
 * @param tokens how many tokens to reserve, 1 or more
 * @param permits how many may hold the key at once, this one included: 1 for an exclusive
 * lock, {@link #SHARED} for any number of readers; more than 1 only without a unit and
 * with one token
 * @param reservation who is to be the next holder if the request is refused, or
 * {@code null} for a request that does not wait
 */
public record AcquireRequest(String key, String name, String nonce, Owner owner, Duration ttl, long floor,
		@Nullable RunUnit unit, int attempt, int tokens, int permits, @Nullable Reservation reservation) {

	/**
	 * The number of {@link #permits} of a shared lock.
	 */
	public static final int SHARED = Integer.MAX_VALUE;

	/**
	 * The longest name, in characters.
	 */
	public static final int MAX_NAME = 200;

	private static final int NONCE_LENGTH = 32;

	private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

	public AcquireRequest {
		Keys.requireValid(key);
		name = printable(name.substring(0, Math.min(name.length(), MAX_NAME)));
		if (nonce.length() != NONCE_LENGTH) {
			throw new IllegalArgumentException("a nonce has 32 hexadecimal digits, but was '" + nonce + "'");
		}
		if (ttl.toMillis() < 1) {
			throw new IllegalArgumentException("a lease lasts at least a millisecond, but was " + ttl);
		}
		if (floor < 0 || attempt < 0 || tokens < 1) {
			throw new IllegalArgumentException("floor, attempt and tokens must not be below 0, 0 and 1, but were "
					+ floor + ", " + attempt + " and " + tokens);
		}
		if (floor >= FencingToken.LIMIT) {
			throw new IllegalArgumentException("the floor is a token, so less than 2^53, but was " + floor);
		}
		if (permits < 1) {
			throw new IllegalArgumentException("at least one may hold a key, but the permits were " + permits);
		}
		if (permits > 1 && (unit != null || tokens > 1)) {
			throw new IllegalArgumentException(
					"several holders have neither a unit nor reserved tokens, but key '" + key + "' was asked for so");
		}
	}

	/**
	 * Asks for an exclusive lock, without a reservation.
	 * @param key the key
	 * @param name the declared text that the key was evaluated from
	 * @param nonce the nonce
	 * @param owner who asks
	 * @param ttl the length of the lease
	 * @param floor the token must be higher than this
	 * @param unit the unit, or {@code null}
	 * @param attempt the number of the attempt, or 0
	 * @param tokens how many tokens to reserve
	 */
	public AcquireRequest(String key, String name, String nonce, Owner owner, Duration ttl, long floor,
			@Nullable RunUnit unit, int attempt, int tokens) {
		this(key, name, nonce, owner, ttl, floor, unit, attempt, tokens, 1, null);
	}

	// Looks before it replaces: there is hardly ever anything to replace.
	private static String printable(String name) {
		for (int i = 0; i < name.length(); i++) {
			if (Character.isISOControl(name.charAt(i))) {
				return CONTROL.matcher(name).replaceAll(" ");
			}
		}
		return name;
	}

	/**
	 * Whether others may hold the key at the same time.
	 * @return whether there is more than one permit
	 */
	public boolean isShared() {
		return this.permits > 1;
	}

	/**
	 * The place of the next holder, of which each key has one. A request that is refused
	 * because the key is held takes the place if it is empty, and prolongs it if it is
	 * the waiter's own. While it is taken, requests of other waiters and those with
	 * several permits are refused as {@link Acquisition.Held}, also when the key is free;
	 * a request that neither waits nor shares is not. A grant to the waiter empties it.
	 *
	 * @param waiter 32 hexadecimal digits that name who waits, the same for all of its
	 * requests
	 * @param lasting how long the place is kept after the last request for it
	 */
	public record Reservation(String waiter, Duration lasting) {

		public Reservation {
			if (waiter.length() != NONCE_LENGTH) {
				throw new IllegalArgumentException("a waiter has 32 hexadecimal digits, but was '" + waiter + "'");
			}
			if (lasting.toMillis() < 1) {
				throw new IllegalArgumentException("a place is kept at least a millisecond, but was " + lasting);
			}
		}

	}

}
