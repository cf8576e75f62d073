package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;

import io.mutex.MutexListener.Run;
import io.mutex.run.Attempts;
import io.mutex.run.Attempts.Origin;
import org.jspecify.annotations.Nullable;

/**
 * When the starter calls a method next, and as which attempt.
 *
 * @param in how long from now
 * @param attempt the number that the attempt must have
 */
record Repetition(Duration in, int attempt) {

	/** How often a key is asked for at most, while nobody knows when it is free. */
	private static final Duration FLOOR = Duration.ofSeconds(1);

	private static final int MOST_DOUBLED = 20;

	/** So that a store that counts microseconds does not find the attempt too early. */
	private static final Duration MARGIN = Duration.ofMillis(2);

	/**
	 * Decides what follows the end of a call.
	 * @param run how it ended
	 * @param attempts which attempt it was
	 * @param looks how many calls in a row before this one have found the key held
	 * @param lease the length of a lease of this job
	 * @param now the time
	 * @return the next call, or {@code null} if the starter makes none before the next
	 * firing
	 */
	static @Nullable Repetition after(Run run, Attempts attempts, int looks, Duration lease, Instant now) {
		Repetition next = switch (run.outcome()) {
			case EXECUTED, SKIPPED_DONE, SKIPPED_IN_DOUBT -> null;
			case FAILED -> afterFailure(run, attempts);
			case SKIPPED_FAILED ->
				attempts.retries(run.attempt()) ? new Repetition(remaining(run), run.attempt() + 1) : null;
			case SKIPPED_HELD -> (run.isMissed() || attempts.delay() != null || attempts.origin() == Origin.STARTER)
					? look(attempts, whileHeld(run, attempts, looks, lease, now)) : null;
			case LEASE_LOST, STORE_ERROR -> (attempts.delay() != null || attempts.origin() == Origin.STARTER)
					? look(attempts, longer((attempts.delay() != null) ? attempts.delay() : lease, FLOOR)) : null;
		};
		return (next != null && attempts.until() != null && !now.plus(next.in()).isBefore(attempts.until())) ? null
				: next;
	}

	private static @Nullable Repetition afterFailure(Run run, Attempts attempts) {
		if (attempts.delay() == null || !attempts.retries(run.attempt())) {
			return null;
		}
		// a condition that failed has made no attempt
		int next = (run.attempt() > 0) ? run.attempt() + 1 : Math.max(1, attempts.expected());
		return new Repetition(attempts.delay().plus(MARGIN), next);
	}

	private static Repetition look(Attempts attempts, Duration in) {
		return new Repetition(in, Math.max(1, attempts.expected()));
	}

	// The end of the holder's lease shows whether it has died. A failure shows earlier,
	// to
	// looks that become rare, and so does the end of the run that this unit is missed
	// for.
	private static Duration whileHeld(Run run, Attempts attempts, int looks, Duration lease, Instant now) {
		boolean known = run.remaining() != null && !run.remaining().isZero();
		Duration end = known ? remaining(run) : lease;
		Duration in = end;
		if (attempts.delay() != null) {
			long rarer = (known && !run.isMissed()) ? 1L << Math.min(looks, MOST_DOUBLED) : 1;
			in = shorter(in, longer(attempts.delay(), FLOOR).multipliedBy(rarer));
		}
		else if (run.isMissed()) {
			in = shorter(in, lease);
		}
		if (run.isMissed() && attempts.until() != null) {
			in = shorter(in, Duration.between(now, attempts.until()).dividedBy(4));
		}
		in = longer(in, FLOOR);
		return known ? shorter(in, end) : in;
	}

	private static Duration remaining(Run run) {
		return (run.remaining() != null) ? run.remaining().plus(MARGIN) : MARGIN;
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

}
