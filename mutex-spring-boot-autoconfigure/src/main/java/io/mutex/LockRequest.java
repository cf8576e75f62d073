package io.mutex;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.mutex.run.Attempts;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks of {@link MutexTemplate}. Immutable; each {@code with} method
 * returns a changed copy.
 *
 * @param key the key, valid by {@link Keys#requireValid(String)}
 * @param name the declared text that the key was evaluated from
 * @param lease the length of the lease, or {@code null} for the configured default; at
 * least {@link #MIN_LEASE}
 * @param maxHold the longest hold, after which the lease is lost, or {@code null} for the
 * configured default
 * @param waitFor how long to wait while the key is held; zero asks once
 * @param unit the unit of a single run, or {@code null} for a lock without records
 * @param attempts which attempt of the unit this is, and how often it is tried again
 * @param skipInDoubt whether a unit whose earlier run died is reported instead of run
 * again
 * @param fencing how the storage is to refuse earlier holders
 * @param permits how many may hold the key at once: 1 for an exclusive lock,
 * {@link AcquireRequest#SHARED} for any number of readers
 * @param unless evaluated under the lock before the body: {@code true} records the unit
 * as done without running it; {@code null} runs the body in any case
 * @param observer told how the call of a single run ended, after the listeners and under
 * the same rules; {@code null} for nobody
 */
public record LockRequest(String key, String name, @Nullable Duration lease, @Nullable Duration maxHold,
		Duration waitFor, @Nullable RunUnit unit, Attempts attempts, boolean skipInDoubt, FencingPolicy fencing,
		int permits, @Nullable BooleanSupplier unless, @Nullable Consumer<MutexListener.Run> observer) {

	/**
	 * The shortest lease: one second.
	 */
	public static final Duration MIN_LEASE = Duration.ofSeconds(1);

	public LockRequest {
		Keys.requireValid(key);
		if (lease != null && lease.compareTo(MIN_LEASE) < 0) {
			throw new IllegalArgumentException(
					"a lease lasts at least " + MIN_LEASE + ", but " + lease + " was asked for key '" + key + "'");
		}
		if (maxHold != null && (maxHold.isNegative() || maxHold.isZero())) {
			throw new IllegalArgumentException(
					"the longest hold must be longer than 0, but was " + maxHold + " for key '" + key + "'");
		}
		if (waitFor.isNegative()) {
			throw new IllegalArgumentException(
					"the time to wait must not be negative, but was " + waitFor + " for key '" + key + "'");
		}
		if (permits < 1) {
			throw new IllegalArgumentException(
					"at least one may hold a key, but the permits were " + permits + " for key '" + key + "'");
		}
	}

	/**
	 * Asks once for a key, with the configured lease.
	 * @param key the key
	 * @return the request
	 * @throws IllegalArgumentException if the key is not valid
	 */
	public static LockRequest of(String key) {
		return new LockRequest(key, key, null, null, Duration.ZERO, null, Attempts.BY_HAND, false, FencingPolicy.STRICT,
				1, null, null);
	}

	/**
	 * Sets the declared text that the key was evaluated from.
	 * @param name the name, a key itself if it is constant
	 * @return the changed copy
	 */
	public LockRequest withName(String name) {
		return new LockRequest(this.key, name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets the length of the lease.
	 * @param lease at least {@link #MIN_LEASE}, or {@code null} for the configured
	 * default
	 * @return the changed copy
	 */
	public LockRequest withLease(@Nullable Duration lease) {
		return new LockRequest(this.key, this.name, lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets the longest hold.
	 * @param maxHold longer than 0, or {@code null} for the configured default
	 * @return the changed copy
	 */
	public LockRequest withMaxHold(@Nullable Duration maxHold) {
		return new LockRequest(this.key, this.name, this.lease, maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets how long to wait while the key is held.
	 * @param waitFor zero or more
	 * @return the changed copy
	 */
	public LockRequest withWaitFor(Duration waitFor) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets the unit whose success is recorded.
	 * @param unit the unit, or {@code null} for a lock without records
	 * @return the changed copy
	 */
	public LockRequest withUnit(@Nullable RunUnit unit) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets which attempt of the unit this is, and how often it is tried again.
	 * @param attempts the attempts
	 * @return the changed copy
	 */
	public LockRequest withAttempts(Attempts attempts) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets whether a unit whose earlier run died is reported instead of run again.
	 * @param skipInDoubt {@code true} to report it
	 * @return the changed copy
	 */
	public LockRequest withSkipInDoubt(boolean skipInDoubt) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				skipInDoubt, this.fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets how the storage is to refuse earlier holders.
	 * @param fencing the policy
	 * @return the changed copy
	 */
	public LockRequest withFencing(FencingPolicy fencing) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, fencing, this.permits, this.unless, this.observer);
	}

	/**
	 * Sets how many may hold the key at once. More than one is a counting semaphore, and
	 * needs {@link FencingPolicy#NONE}, since a guard knows one holder.
	 * @param permits 1 for an exclusive lock, or more
	 * @return the changed copy
	 */
	public LockRequest withPermits(int permits) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, permits, this.unless, this.observer);
	}

	/**
	 * Shares the key with others that do so, and excludes those that do not: the reader's
	 * side of a read-write lock. Needs {@link FencingPolicy#NONE}, as several permits do.
	 * @return the changed copy
	 */
	public LockRequest shared() {
		return withPermits(AcquireRequest.SHARED);
	}

	/**
	 * Sets a condition, evaluated under the lock, under which the unit is done already.
	 * @param unless the condition, or {@code null} for none
	 * @return the changed copy
	 */
	public LockRequest withUnless(@Nullable BooleanSupplier unless) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, unless, this.observer);
	}

	/**
	 * Sets who is told how the call of a single run ended.
	 * @param observer the observer, or {@code null} for nobody
	 * @return the changed copy
	 */
	public LockRequest withObserver(@Nullable Consumer<MutexListener.Run> observer) {
		return new LockRequest(this.key, this.name, this.lease, this.maxHold, this.waitFor, this.unit, this.attempts,
				this.skipInDoubt, this.fencing, this.permits, this.unless, observer);
	}

}
