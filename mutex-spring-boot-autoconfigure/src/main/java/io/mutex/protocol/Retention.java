package io.mutex.protocol;

import java.time.Duration;

import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * What a store may forget, as pure functions over stored rows. A run that is removed
 * could run again, so what is asked for stays: a row until the time that was stored with
 * it, the row of a unit that somebody holds, and of a key that is written as such in the
 * code (its name is the key itself) the newest run and the latest success.
 */
public final class Retention {

	/**
	 * When a row is looked at again that has to stay although its time is over, in
	 * microseconds.
	 */
	public static final long POSTPONED = Duration.ofDays(1).toNanos() / 1000;

	private Retention() {
	}

	/**
	 * Whether a run may be forgotten.
	 * @param run the row of its unit
	 * @param newest what is newest of its key
	 * @param lock the row of its key, or {@code null} if there is none
	 * @param key the key
	 * @param now the store's time
	 * @return {@code false} if the row stays
	 */
	public static boolean isSpent(RunRow run, Newest newest, @Nullable LockRow lock, String key, long now) {
		if (run.keptUntil() > now) {
			return false;
		}
		if (lock == null) {
			return !newest.includes(run);
		}
		boolean owned = run.unit().equals(lock.unit())
				&& (lock.isHeld(now) || (lock.isAbandoned(now) && lock.keptUntil() > now));
		return !owned && !(lock.name().equals(key) && newest.includes(run));
	}

	/**
	 * Whether the row of a key may be forgotten, if no run of the key is remembered. Its
	 * token stays behind those of later grants, since these are made of the time.
	 * @param lock the row of the key
	 * @param key the key
	 * @param idle how long after its latest grant a key stays
	 * @param now the store's time
	 * @return {@code false} if the row stays
	 */
	public static boolean isSpent(LockRow lock, String key, Duration idle, long now) {
		long heldUntil = Math.max(lock.expiresAt(), lock.sharedUntil());
		long idleSince = Math.max(lock.acquiredAt(), Math.max(heldUntil, lock.buriedAt()));
		if (heldUntil > now || lock.token() >= now || idleSince > now - Micros.of(idle)
				|| lock.buriedAt() > now - LockRow.TOMBSTONE_LIFETIME) {
			return false;
		}
		boolean doubt = lock.isAbandoned(now) && lock.unit() != null;
		return !doubt || (lock.keptUntil() <= now && !lock.name().equals(key));
	}

	/**
	 * When the newest runs of a key began, 0 if there is none.
	 *
	 * @param run the newest of all
	 * @param success the newest success
	 */
	public record Newest(long run, long success) {

		/**
		 * What is newest of some runs.
		 * @param runs all runs of a key
		 * @return the newest
		 */
		public static Newest of(Iterable<RunRow> runs) {
			long newest = 0;
			long success = 0;
			for (RunRow run : runs) {
				newest = Math.max(newest, run.began());
				success = (run.status() == Status.DONE) ? Math.max(success, run.began()) : success;
			}
			return new Newest(newest, success);
		}

		boolean includes(RunRow run) {
			return run.began() >= this.run || (run.status() == Status.DONE && run.began() >= this.success);
		}

	}

}
