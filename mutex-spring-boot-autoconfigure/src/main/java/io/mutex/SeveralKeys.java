package io.mutex;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import io.mutex.LockNotAcquiredException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Several keys that are held at once. They are taken in their order, which is the same
 * for all callers, so that no two wait for each other.
 *
 * @param template acquires each key
 * @param requests what is asked for, ordered by key
 * @param waitFor how long to wait for all of them together
 * @param deadline until when, by the monotonic clock
 */
record SeveralKeys(MutexTemplate template, List<LockRequest> requests, Duration waitFor, long deadline) {

	/** A longer wait is as good as endless. */
	private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

	static SeveralKeys of(MutexTemplate template, Collection<LockRequest> requests, Duration waitFor) {
		if (requests.isEmpty()) {
			throw new IllegalArgumentException("at least one key has to be asked for");
		}
		if (waitFor.isNegative()) {
			throw new IllegalArgumentException("the time to wait must not be negative, but was " + waitFor);
		}
		SortedMap<String, LockRequest> ordered = new TreeMap<>();
		for (LockRequest request : requests) {
			LockRequest other = ordered.putIfAbsent(request.key(), request);
			if (other != null && !other.equals(request)) {
				throw new IllegalArgumentException("key '" + request.key()
						+ "' was asked for twice, and not in the same way: ask once, for the stronger of both");
			}
		}
		Duration wait = (waitFor.compareTo(LONGEST_WAIT) < 0) ? waitFor : LONGEST_WAIT;
		return new SeveralKeys(template, List.copyOf(ordered.values()), wait, System.nanoTime() + wait.toNanos());
	}

	<T extends @Nullable Object, E extends Throwable> T execute(LeasesCallback<T, E> body) throws E {
		return execute(List.of(), body);
	}

	private <T extends @Nullable Object, E extends Throwable> T execute(List<Lease> held, LeasesCallback<T, E> body)
			throws E {
		if (held.size() == this.requests.size()) {
			return body.run(held);
		}
		LockRequest request = this.requests.get(held.size());
		Duration left = this.waitFor.isZero() ? Duration.ZERO : Duration.ofNanos(this.deadline - System.nanoTime());
		if (left.isNegative() || (left.isZero() && !this.waitFor.isZero())) {
			throw new LockNotAcquiredException(request.key(), Reason.TIMED_OUT, null,
					"the waiting time of " + this.waitFor + " was over when key '" + request.key()
							+ "' was to be asked for; the work was not run");
		}
		return this.template.<T, E>execute(request.withWaitFor(left), (lease) -> {
			List<Lease> more = new ArrayList<>(held);
			more.add(lease);
			return execute(List.copyOf(more), body);
		});
	}

}
