package io.mutex.status;

import java.time.Instant;
import java.time.InstantSource;

import io.mutex.MutexListener;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The last success of each declared name that this instance has heard of: its own, and
 * those that a store named when it refused a call. Asks no store.
 */
public final class LastSuccesses implements MutexListener {

	private static final int NAMES = 500;

	private final InstantSource clock;

	private final RecentMap<Success> successes = new RecentMap<>(NAMES);

	/**
	 * Creates an empty memory.
	 * @param clock the clock of this instance
	 */
	public LastSuccesses(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public void run(Run run) {
		if (run.outcome() == Outcome.EXECUTED) {
			Instant now = this.clock.instant();
			learn(run.name(), new Success(run.key(), run.unit(), now.minus(run.took()), now, null));
		}
		RunRecord record = run.record();
		if (record != null && record.status() == RunRecord.Status.DONE) {
			learn(run.name(), Success.of(record));
		}
	}

	/**
	 * Remembers a success, unless a later one is known.
	 * @param name the declared name
	 * @param success the success
	 */
	public synchronized void learn(String name, Success success) {
		Success known = this.successes.get(name);
		if (known == null || success.ended().isAfter(known.ended())) {
			this.successes.put(name, success);
		}
	}

	/**
	 * Forgets the success of a declared name, whose unit was reopened.
	 * @param name the name
	 */
	public synchronized void forget(String name) {
		this.successes.remove(name);
	}

	/**
	 * The last success of a declared name.
	 * @param name the name
	 * @return the success, or {@code null} if this instance has heard of none
	 */
	public synchronized @Nullable Success of(String name) {
		return this.successes.get(name);
	}

}
