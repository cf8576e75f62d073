package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

import io.mutex.MutexListener;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Remembers how the calls of single runs on this instance ended, and why: the last
 * {@value #ENTRIES} of each key, for {@value #KEYS} constant and as many evaluated keys.
 */
public final class RunLog implements MutexListener {

	/** How many ends are remembered of one key. */
	static final int ENTRIES = 20;

	/** How many constant keys are remembered, and how many others. */
	static final int KEYS = 200;

	private static final int MAX_TEXT = 500;

	private final InstantSource clock;

	private final RecentMap<Ends> constant = new RecentMap<>(KEYS);

	private final RecentMap<Ends> evaluated = new RecentMap<>(KEYS);

	/**
	 * Creates a log.
	 * @param clock the clock of this instance
	 */
	public RunLog(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public void run(Run run) {
		Throwable failure = run.failure();
		Entry entry = new Entry(this.clock.instant(), run.unit(), run.outcome(), cut(run.reason()), run.attempt(),
				run.took(), run.origin(), (failure != null) ? failure.getClass().getName() : null);
		synchronized (this) {
			RecentMap<Ends> keys = run.key().equals(run.name()) ? this.constant : this.evaluated;
			keys.computeIfAbsent(run.key(), (key) -> new Ends(run.name(), new ArrayDeque<>(ENTRIES))).add(entry);
		}
	}

	/**
	 * How the last calls of a key on this instance ended.
	 * @param key the key
	 * @return the ends, the latest first
	 */
	public synchronized List<Entry> of(String key) {
		List<Entry> found = new ArrayList<>();
		if (this.constant.containsKey(key)) {
			found.addAll(this.constant.get(key).entries());
		}
		if (this.evaluated.containsKey(key)) {
			found.addAll(this.evaluated.get(key).entries());
		}
		return found;
	}

	/**
	 * The declared text that a key was evaluated from on this instance.
	 * @param key the key
	 * @return the name, or {@code null} if the key has not been seen lately
	 */
	public synchronized @Nullable String nameOf(String key) {
		Ends ends = this.evaluated.containsKey(key) ? this.evaluated.get(key) : this.constant.get(key);
		return (ends != null) ? ends.name() : null;
	}

	/**
	 * The keys that this instance has seen lately of a declared text.
	 * @param name the declared text
	 * @param limit how many to return
	 * @return the keys, the latest first
	 */
	public synchronized List<String> keysOf(String name, int limit) {
		List<String> keys = new ArrayList<>();
		this.evaluated.forEach((key, ends) -> {
			if (ends.name().equals(name)) {
				keys.add(key);
			}
		});
		Collections.reverse(keys);
		return List.copyOf(keys.subList(0, Math.min(limit, keys.size())));
	}

	private static String cut(String text) {
		return (text.length() <= MAX_TEXT) ? text : text.substring(0, MAX_TEXT);
	}

	/**
	 * The end of a call.
	 *
	 * @param time when it ended, by the clock of this instance
	 * @param unit the unit, or {@code null}
	 * @param outcome how it ended
	 * @param reason one sentence for people
	 * @param attempt the number of the attempt, 0 if it is not known
	 * @param took the time the body ran, zero if it did not
	 * @param origin who called
	 * @param error the class of what the body threw or of what went wrong, or
	 * {@code null}
	 */
	public record Entry(Instant time, @Nullable String unit, Outcome outcome, String reason, int attempt, Duration took,
			Origin origin, @Nullable String error) {

	}

	private record Ends(String name, Deque<Entry> entries) {

		void add(Entry entry) {
			if (this.entries.size() == ENTRIES) {
				this.entries.removeLast();
			}
			this.entries.addFirst(entry);
		}

	}

}
