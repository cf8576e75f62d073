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
 */
public record AcquireRequest(String key, String name, String nonce, Owner owner, Duration ttl, long floor,
		@Nullable RunUnit unit, int attempt, int tokens) {

	/**
	 * The longest name, in characters.
	 */
	public static final int MAX_NAME = 200;

	private static final int NONCE_LENGTH = 32;

	private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

	public AcquireRequest {
		Keys.requireValid(key);
		name = CONTROL.matcher(name.substring(0, Math.min(name.length(), MAX_NAME))).replaceAll(" ");
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
	}

}
