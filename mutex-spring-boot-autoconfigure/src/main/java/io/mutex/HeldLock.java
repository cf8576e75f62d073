package io.mutex;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is held, as its store shows it. All times are the store's.
 *
 * @param key the key
 * @param name the declared text that the key was evaluated from
 * @param owner who holds it
 * @param nonce the nonce of the grant
 * @param token the token of the grant
 * @param unit the unit whose run holds it, or {@code null}
 * @param acquiredAt when it was granted
 * @param expiresAt when its lease ends, or {@code null} if the store frees it with the
 * process
 * @param heldFor the time since the grant
 */
public record HeldLock(String key, String name, Owner owner, String nonce, long token, @Nullable String unit,
		Instant acquiredAt, @Nullable Instant expiresAt, Duration heldFor) {

}
