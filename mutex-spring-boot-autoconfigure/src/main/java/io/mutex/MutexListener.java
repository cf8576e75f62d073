package io.mutex;

import java.time.Duration;

import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Told of what happens to leases and runs, on the thread to which it happens and before
 * the call goes on. What a listener throws is logged and reaches nobody else.
 */
public interface MutexListener {

	/**
	 * A key was asked for.
	 * @param key the key
	 * @param name the declared text of the key
	 * @param outcome how the acquisition ended: {@code granted}, {@code held},
	 * {@code held_back}, {@code done}, {@code not_yet}, {@code too_early}, {@code error},
	 * {@code interrupted} or {@code shutdown}
	 * @param took the time from the call to the answer
	 */
	default void acquisition(String key, String name, String outcome, Duration took) {
	}

	/**
	 * A lease was granted, and the protected work is about to begin, unless the
	 * application shuts down.
	 * @param lease the lease
	 */
	default void granted(Lease lease) {
	}

	/**
	 * A lease was lost while the protected work ran. Told on a thread of its own; the
	 * call waits for a listener that takes long, but not more than 10 seconds.
	 * @param lease the lease
	 * @param reason why, for people
	 */
	default void lost(Lease lease, String reason) {
	}

	/**
	 * A guard refused a write, or the beginning, of the protected work.
	 * @param lease the lease
	 * @param refusal what the guard has accepted instead
	 */
	default void refused(Lease lease, StaleFencingTokenException refusal) {
	}

	/**
	 * The protected work has ended, and the key was released or given up.
	 * @param lease the lease
	 * @param held the time from the grant to the end of the work
	 */
	default void ended(Lease lease, Duration held) {
	}

	/**
	 * Leases were due for renewal. Called on the renewal thread: it must not block.
	 * @param renewed how many were renewed
	 * @param failed how many were not, and are tried again or lost
	 */
	default void renewed(int renewed, int failed) {
	}

	/**
	 * A monitor has noticed something. Told on the thread of the monitors, once for each
	 * occurrence.
	 * @param hazard what it has noticed
	 */
	default void hazard(LockHazard hazard) {
	}

	/**
	 * A call of a single run has ended.
	 * @param run how it ended
	 */
	default void run(Run run) {
	}

	/**
	 * The end of a call of a single run.
	 *
	 * @param key the key
	 * @param name the declared text of the key
	 * @param unit the unit, or {@code null}
	 * @param outcome how it ended
	 * @param reason one sentence for people
	 * @param took the time the body ran, zero if it did not
	 * @param failure what the body threw, or what went wrong, or {@code null}
	 * @param origin who called
	 * @param attempt the number of the attempt that ran, or of the last one in the store
	 * if that is the reason of a skip; 0 if it is not known
	 * @param record the stored run that is the reason of a skip, or {@code null}
	 * @param holder who holds the key that is the reason of a skip, or {@code null}
	 * @param heldUnit the unit whose run holds the key, or {@code null}
	 * @param remaining after {@link Outcome#SKIPPED_FAILED}, how long until the next
	 * attempt may begin; after {@link Outcome#SKIPPED_HELD}, the time left of the
	 * holder's lease, zero if it is not known; {@code null} if there is no such time
	 */
	record Run(String key, String name, @Nullable String unit, Outcome outcome, String reason, Duration took,
			@Nullable Throwable failure, Origin origin, int attempt, @Nullable RunRecord record, @Nullable Owner holder,
			@Nullable String heldUnit, @Nullable Duration remaining) {

		/**
		 * Whether the unit is being missed: the run of another unit holds the key.
		 * @return {@code true} for such a skip
		 */
		public boolean isMissed() {
			return this.outcome == Outcome.SKIPPED_HELD && this.unit != null && this.heldUnit != null
					&& !this.unit.equals(this.heldUnit);
		}

	}

}
