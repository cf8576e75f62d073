package io.mutex.fence;

import java.time.Duration;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Purged;
import org.jspecify.annotations.Nullable;

/**
 * A storage that remembers for each resource the latest grant it has accepted, and
 * refuses the writes of all others.
 * <p>
 * Three rules make it safe. A grant is registered only if its token is higher than the
 * accepted one, or if it is the accepted grant itself, token and nonce. A write is
 * accepted only from the registered grant, and is checked in the same atomic step. What a
 * later write depends on is read after the registration.
 *
 * @see <a href=
 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html"> Martin
 * Kleppmann, How to do distributed locking</a>
 */
public interface FenceGuard {

	/**
	 * The name of the guard, for logs and start-up.
	 * @return a few words, such as {@code jdbc (mutex_fence)}
	 */
	String name();

	/**
	 * Registers a grant durably: from the return on, every write of another grant is
	 * refused until a later one is registered. Repeatable.
	 * @param fence the grant and the resource
	 * @throws io.mutex.StaleFencingTokenException if the resource has accepted a higher
	 * token, or the same one of another grant
	 * @throws io.mutex.MutexException if the resource belongs to another key, or if the
	 * guard did not answer, so that the grant may or may not be registered
	 */
	void register(Fence fence);

	/**
	 * Refuses every grant of a key so far, as after a forced release.
	 * @param key the key
	 * @param token higher than the tokens of those grants
	 * @param nonce a nonce that nobody else has
	 * @throws io.mutex.StaleFencingTokenException if a later grant is registered
	 * @throws io.mutex.MutexException if the guard did not answer
	 */
	void revoke(String key, FencingToken token, String nonce);

	/**
	 * Removes some of the resources at which nothing has happened for so long that no
	 * grant of before can still be at work.
	 * @param idle how long at least
	 * @param after where the last batch has ended, or {@code null} to begin
	 * @param limit how many to look at
	 * @return how many were removed, and where the next batch begins
	 * @throws io.mutex.MutexException if the guard did not answer
	 */
	default Purged purge(Duration idle, @Nullable String after, int limit) {
		return new Purged(0, null);
	}

	/**
	 * Looks whether the guard could be asked, when the application starts.
	 * @throws io.mutex.StoreSetupException if it never can be as it is set up, such as
	 * without its table
	 * @throws io.mutex.MutexException if it does not answer now
	 */
	default void check() {
	}

}
