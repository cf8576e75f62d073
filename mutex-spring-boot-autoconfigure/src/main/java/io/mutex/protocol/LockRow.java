package io.mutex.protocol;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import io.mutex.AcquireRequest;
import io.mutex.HeldLock;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of one key. Times are microseconds since 1970 by the store's clock.
 *
 * @param version changed by every write; what a compare-and-set compares. It begins with
 * the time, so that no version of a row comes back once the row was removed
 * @param token the highest token granted so far
 * @param nonce the nonce of the latest grant, kept after its release
 * @param name the declared text of the key
 * @param owner who got the latest grant
 * @param unit the unit of the latest grant, or {@code null}
 * @param attempt the attempt of the latest grant, 0 without a unit
 * @param acquiredAt when the latest grant was made
 * @param expiresAt when its lease ends; 0 once it is released, and {@link #NEVER} where a
 * lease has no deadline
 * @param tombstones nonces that were released before they were granted or held the key
 * together with others, latest first, each followed by one character
 * @param buriedAt when the latest tombstone was written, or 0
 * @param keptUntil until when what is known of the unit of the latest grant is kept at
 * least, {@link #NEVER} for ever; 0 without a unit
 * @param sharedUntil when the last of the leases ends that hold the key together; 0 once
 * they are released or the key had another grant
 * @param place the place of the next holder
 */
public record LockRow(long version, long token, String nonce, String name, Owner owner, @Nullable String unit,
		int attempt, long acquiredAt, long expiresAt, String tombstones, long buriedAt, long keptUntil,
		long sharedUntil, Place place) {

	/**
	 * The end of a lease that has none.
	 */
	public static final long NEVER = Long.MAX_VALUE;

	/**
	 * How long a tombstone is kept at least, in microseconds: longer than any request can
	 * be under way.
	 */
	public static final long TOMBSTONE_LIFETIME = Duration.ofMinutes(10).toNanos() / 1000;

	/**
	 * The greatest length of {@link #tombstones()}: 30 nonces.
	 */
	public static final int MAX_TOMBSTONES = 30 * 33;

	/** What follows a tombstone of a holder, instead of a space. */
	private static final String SETTLED = ".";

	/** The nonce of a row whose key was never granted. */
	private static final String UNSEEN = "unseen";

	private static final Owner NOBODY = new Owner("nobody", "unknown", 0, "unknown");

	/**
	 * The row of a key without shared holders and without a next one.
	 * @param version changed by every write
	 * @param token the highest token granted so far
	 * @param nonce the nonce of the latest grant
	 * @param name the declared text of the key
	 * @param owner who got the latest grant
	 * @param unit the unit of the latest grant, or {@code null}
	 * @param attempt the attempt of the latest grant
	 * @param acquiredAt when the latest grant was made
	 * @param expiresAt when its lease ends
	 * @param tombstones nonces that were released before they were granted
	 * @param buriedAt when the latest tombstone was written, or 0
	 * @param keptUntil until when the unit of the latest grant is kept
	 */
	public LockRow(long version, long token, String nonce, String name, Owner owner, @Nullable String unit, int attempt,
			long acquiredAt, long expiresAt, String tombstones, long buriedAt, long keptUntil) {
		this(version, token, nonce, name, owner, unit, attempt, acquiredAt, expiresAt, tombstones, buriedAt, keptUntil,
				0, Place.EMPTY);
	}

	static LockRow unseen(String tombstones, long now) {
		return new LockRow(now, now, UNSEEN, "", NOBODY, null, 0, now, 0, tombstones, now, 0);
	}

	/**
	 * Whether the latest grant holds the key at a time.
	 * @param now the store's time
	 * @return {@code false} once it is released or expired
	 */
	public boolean isHeld(long now) {
		return this.expiresAt > now;
	}

	/**
	 * Whether the latest grant expired without a release.
	 * @param now the store's time
	 * @return {@code true} if its holder died or lost its lease
	 */
	public boolean isAbandoned(long now) {
		return this.expiresAt > 0 && this.expiresAt <= now;
	}

	boolean hasBuried(String nonce) {
		return this.tombstones.contains(nonce);
	}

	LockRow released() {
		return next(0, this.tombstones, this.buriedAt, this.sharedUntil, this.place);
	}

	LockRow touched() {
		return next(this.expiresAt, this.tombstones, this.buriedAt, this.sharedUntil, this.place);
	}

	LockRow prolongedTo(long expiresAt) {
		return next(Math.max(this.expiresAt, expiresAt), this.tombstones, this.buriedAt, this.sharedUntil, this.place);
	}

	LockRow sharedUntil(long sharedUntil) {
		return next(this.expiresAt, this.tombstones, this.buriedAt, sharedUntil, this.place);
	}

	LockRow kept(Place place) {
		return next(this.expiresAt, this.tombstones, this.buriedAt, this.sharedUntil, place);
	}

	// whether the nonce held the key with others, and released it
	boolean hasSettled(String nonce) {
		return this.tombstones.contains(nonce + SETTLED);
	}

	LockRow burying(String nonce, long now) {
		return burying(nonce + " ", this.sharedUntil, now);
	}

	LockRow settledBy(String nonce, long sharedUntil, long now) {
		return burying(nonce + SETTLED, sharedUntil, now);
	}

	private LockRow burying(String tombstone, long sharedUntil, long now) {
		String kept = tombstone + liveTombstones(now);
		return next(this.expiresAt, kept.substring(0, Math.min(kept.length(), MAX_TOMBSTONES)), now, sharedUntil,
				this.place);
	}

	// a grant to one of several takes the place of a holder that died, and else leaves
	// what is known of the last exclusive one
	LockRow sharedBy(AcquireRequest request, long version, long token, long sharedUntil, long now) {
		Place place = this.place.after(request);
		String name = this.name.isEmpty() ? request.name() : this.name;
		if (!isAbandoned(now)) {
			return new LockRow(version, token, this.nonce, name, this.owner, this.unit, this.attempt, this.acquiredAt,
					0, liveTombstones(now), this.buriedAt, this.keptUntil, sharedUntil, place);
		}
		LockRow buried = burying(this.nonce, now);
		return new LockRow(version, token, UNSEEN, name, NOBODY, null, 0, this.acquiredAt, 0, buried.tombstones,
				buried.buriedAt, 0, sharedUntil, place);
	}

	private LockRow next(long expiresAt, String tombstones, long buriedAt, long sharedUntil, Place place) {
		return new LockRow(this.version + 1, this.token, this.nonce, this.name, this.owner, this.unit, this.attempt,
				this.acquiredAt, expiresAt, tombstones, buriedAt, this.keptUntil, sharedUntil, place);
	}

	String liveTombstones(long now) {
		return (this.buriedAt > now - TOMBSTONE_LIFETIME) ? this.tombstones : "";
	}

	/**
	 * The row as a listing shows it.
	 * @param key the key of the row
	 * @param now the store's time
	 * @return the lock, or empty if nobody holds it
	 */
	public Optional<HeldLock> toHeldLock(String key, long now) {
		if (!isHeld(now)) {
			return Optional.empty();
		}
		Instant expires = (this.expiresAt == NEVER) ? null : Micros.toInstant(this.expiresAt);
		return Optional.of(new HeldLock(key, this.name, this.owner, this.nonce, this.token, this.unit,
				Micros.toInstant(this.acquiredAt), expires, Micros.toDuration(Math.max(0, now - this.acquiredAt))));
	}

}
