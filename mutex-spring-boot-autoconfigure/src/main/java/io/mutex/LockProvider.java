package io.mutex;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Where locks live. Each operation is one atomic step of the store, safe to repeat with
 * the same arguments, and bounded in time. A provider has no threads, does not wait for a
 * key to become free, and reads no wall clock of its own process: time is the store's.
 * <p>
 * Keys are valid by {@link Keys#requireValid(String)}; the provider keeps the locks of
 * one namespace.
 * <p>
 * Every operation throws {@link MutexException} when the store cannot be asked or the
 * answer is lost; the outcome is then unknown, and asking again with the same nonce
 * resolves it. Contention is an answer, never an exception.
 */
public interface LockProvider extends AutoCloseable {

	/**
	 * What the store is called in configuration, logs and metrics, for example
	 * {@code jdbc}.
	 * @return the name
	 */
	String name();

	/**
	 * Asks for a key. The answer is the first that holds:
	 * <ol>
	 * <li>{@link Acquisition.Done}: a success of the unit is recorded (of a rolling unit:
	 * one that began less than {@code within} ago)</li>
	 * <li>{@link Acquisition.TooEarly}: the unit begins later than the store's time plus
	 * the tolerance</li>
	 * <li>{@link Acquisition.Granted} again, with the same token: the holder is this
	 * nonce, and its lease has not expired. The lease is not prolonged</li>
	 * <li>{@link Acquisition.Stale}: this nonce has released, or its lease expired</li>
	 * <li>{@link Acquisition.Held}: another nonce holds the key, or as many hold it as
	 * may at once, or the place of the next holder is another's
	 * ({@link AcquireRequest.Reservation})</li>
	 * <li>{@link Acquisition.HeldBack}: the store has found that it lost data, less than
	 * one longest lease ago. Only a store that can lose what it has promised answers
	 * so</li>
	 * <li>{@link Acquisition.NotYet}: the request names an attempt that is not the stored
	 * one plus one, or whose time has not come</li>
	 * <li>{@link Acquisition.Granted}, where the first token is the highest of the stored
	 * token plus one, the store's time in microseconds, and the floor plus one. In the
	 * same step the attempt is stored, and an unfinished predecessor that had a unit
	 * leaves that unit in doubt</li>
	 * </ol>
	 * A granted token is as durable as the store is configured to be before it is
	 * returned.
	 * @param request what is asked for
	 * @return the answer
	 */
	Acquisition acquire(AcquireRequest request);

	/**
	 * Prolongs leases, each only for its holder and while it has not expired, and never
	 * shortens one.
	 * @param grants the leases, at most 500
	 * @return one answer for each, in the same order
	 */
	List<Renewal> renew(List<Grant> grants);

	/**
	 * Frees the key if the nonce still owns it. A nonce that was never seen, because its
	 * acquisition is still on the way, leaves a mark that makes the late acquisition
	 * {@link Acquisition.Stale}. So does a nonce that is released again: its acquisition
	 * was asked for more than once, and may still be on the way once more.
	 * @param key the key
	 * @param nonce the nonce of the acquisition
	 * @param began whether the body began. If not, attempt and doubt are as before the
	 * grant; if so, and the grant had a unit without an outcome, the unit is in doubt
	 * @return whether the nonce owned the key, also when it had released it before
	 */
	Settlement release(String key, String nonce, boolean began);

	/**
	 * Records the success of a unit and frees the key in one step, only while the grant
	 * owns it.
	 * @param grant the grant
	 * @param unit the unit of the grant
	 * @return whether the success is recorded, also when it was recorded before for this
	 * nonce
	 */
	Settlement complete(Grant grant, String unit);

	/**
	 * Records the failure of a unit and frees the key in one step, only while the grant
	 * owns it. The unit stays open, and a doubt about it is removed.
	 * @param grant the grant
	 * @param unit the unit of the grant
	 * @param error what failed, for people, at most 500 characters
	 * @param delay how long after now, by the store's clock, the next attempt may begin
	 * @return whether the failure is recorded, also when it was recorded before for this
	 * nonce
	 */
	Settlement fail(Grant grant, String unit, String error, Duration delay);

	/**
	 * Frees a key whoever holds it. The token is raised, so that a guard can refuse the
	 * former holder; the unit of its run is left in doubt.
	 * @param key the key
	 * @return what was done
	 */
	ForcedRelease forceRelease(String key);

	/**
	 * Forgets how a unit ended, its success, failure or doubt, so that it can run again
	 * as if it never had. Refused while a run of this unit holds the key. A worker of
	 * this unit that lost its lease can record nothing afterwards.
	 * @param key the key
	 * @param unit the unit
	 * @return what was done
	 */
	Reopening reopen(String key, String unit);

	/**
	 * The locks that are held now. Changes nothing.
	 * @param limit the greatest number of locks to return, 1 or more
	 * @return the held locks, ordered by key
	 */
	List<HeldLock> locks(int limit);

	/**
	 * The lock of one key, if it is held now. Changes nothing.
	 * @param key the key
	 * @return the lock, or empty
	 */
	Optional<HeldLock> lock(String key);

	/**
	 * The remembered runs of a key, the latest beginning first. Changes nothing.
	 * @param key the key
	 * @param limit the greatest number of runs to return, 1 or more
	 * @return the runs
	 */
	List<RunRecord> runs(String key, int limit);

	/**
	 * The success of a key that began last. Changes nothing.
	 * @param key the key
	 * @return the success, or empty if none is remembered
	 */
	Optional<RunRecord> lastSuccess(String key);

	/**
	 * Forgets, in one bounded batch, what need not be kept: runs whose time is over, as
	 * their {@link io.mutex.run.RunUnit units} say it, and then keys of which no run is
	 * remembered. Never what is held, and of a key that is written as such in the code
	 * (its name is the key) neither its newest run nor its latest success. Where the
	 * store also guards resources, those of which nothing was heard for that time and a
	 * long hold more. A store whose data end by themselves has nothing to do.
	 * @param idle how long after its latest grant a key without runs stays, at least
	 * {@link io.mutex.run.RunUnit#MIN_KEPT}
	 * @param after what the batch before this one said, or {@code null} to begin
	 * @param limit how many runs, keys or resources one batch looks at, 1 or more
	 * @return what was removed
	 */
	default Purged purge(Duration idle, @Nullable String after, int limit) {
		return new Purged(0, null);
	}

	/**
	 * Proves that the store can be reached and is fit for its work. Changes no lock.
	 * @throws MutexException if not, with what to do
	 */
	void check();

	/**
	 * What the latest {@link #check()} found to weaken the store although it is fit, such
	 * as a setting by which a crash loses what was granted.
	 * @return a sentence for each finding, empty by default
	 */
	default List<String> findings() {
		return List.of();
	}

	/**
	 * How long after an acquisition or a renewal a lease should be renewed.
	 * @param ttl the length of the lease
	 * @return a third of the lease, unless the store has to be watched more often
	 */
	default Duration renewalInterval(Duration ttl) {
		// what Duration.dividedBy() answers, which takes longer than a lock in memory
		long seconds = ttl.getSeconds();
		return Duration.ofSeconds(seconds / 3, (seconds % 3 * 1_000_000_000L + ttl.getNano()) / 3);
	}

	/**
	 * Whether a lease ends by the passing of time. If not, the store frees a key when the
	 * process that holds it ends, and only then.
	 * @return {@code true} by default
	 */
	default boolean expires() {
		return true;
	}

	/**
	 * Reports that a key became free whose next holder is this waiter
	 * ({@link AcquireRequest.Reservation}), until the provider is closed, the connection
	 * ends or the thread is interrupted. A report is a hint: each may be late, doubled or
	 * lost.
	 * @param waiter who waits
	 * @param released told the key, quickly and without throwing
	 * @return {@code false}, at once, if the store reports nothing
	 * @throws InterruptedException if the thread was interrupted
	 */
	default boolean listen(String waiter, Consumer<String> released) throws InterruptedException {
		return false;
	}

	/**
	 * Frees what the provider holds of this process. Held keys are not released.
	 */
	@Override
	default void close() {
	}

	/**
	 * The proof that a key is, or was, held.
	 *
	 * @param key the key
	 * @param nonce the nonce of the acquisition
	 * @param token the last token of the grant, as the store has it
	 * @param ttl the length of the lease
	 * @param permits how many may hold the key at once, as it was asked for
	 */
	record Grant(String key, String nonce, long token, Duration ttl, int permits) {

		/**
		 * A proof of having held a key alone.
		 * @param key the key
		 * @param nonce the nonce of the acquisition
		 * @param token the last token of the grant, as the store has it
		 * @param ttl the length of the lease
		 */
		public Grant(String key, String nonce, long token, Duration ttl) {
			this(key, nonce, token, ttl, 1);
		}

		/**
		 * Whether others may hold the key at the same time.
		 * @return whether there is more than one permit
		 */
		public boolean shared() {
			return this.permits > 1;
		}

	}

	/**
	 * The answer to a renewal.
	 */
	enum Renewal {

		/** The lease now ends at least its length from now. */
		RENEWED,

		/** The lease has expired, or the key has another holder or none. */
		LOST,

		/** The store could not tell in time; nothing is known to be lost. */
		BUSY

	}

	/**
	 * The answer to a release, a completion or a failure.
	 */
	enum Settlement {

		/** What was asked for is stored. */
		SETTLED,

		/** The grant did not own the key, and nothing was changed. */
		NOT_OWNER

	}

	/**
	 * The answer to a forced release.
	 *
	 * @param result what was done
	 * @param holder who held the key; {@code null} if nobody did
	 * @param token the raised token, higher than the holder's, if the key was freed
	 */
	record ForcedRelease(Result result, @Nullable HeldLock holder, @Nullable FencingToken token) {

		/**
		 * What was done.
		 */
		public enum Result {

			/** The key is free, and its token was raised. */
			RELEASED,

			/** Nobody held the key. */
			NOT_HELD,

			/**
			 * The store cannot free the key: only the end of the holder's process can.
			 */
			REFUSED

		}

	}

}
