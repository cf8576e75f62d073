package io.mutex.lab;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What one run has come to, in numbers that do not depend on what its faults allow.
 *
 * @param found how often each invariant was broken, also where the faults lift it
 * @param broken the invariants that were broken, without those that the faults lift
 * @param stale the writes that were accepted although they began after a later grant
 * @param failed the calls that did not end well: lost, in doubt, or without an answer
 * @param stuck the keys that somebody waited for in vain although nobody held them
 * @param stall the longest time by which a body took longer than it meant to while no
 * fault was on, in milliseconds: the machine did not let it run
 */
public record Tally(Map<String, Long> found, Set<String> broken, long stale, long failed, Set<String> stuck,
		long stall) {

	// how often a body asks whether its lease is valid
	private static final long ASKED = TimeUnit.MILLISECONDS.toNanos(10);

	static final Tally NONE = new Tally(Map.of(), Set.of(), 0, 0, Set.of(), 0);

	static Tally of(History history, List<Violation> all, List<Violation> violations) {
		Map<String, Long> found = new TreeMap<>();
		all.forEach((violation) -> found.merge(violation.invariant(), 1L, Long::sum));
		Set<String> broken = new HashSet<>();
		violations.forEach((violation) -> broken.add(violation.invariant()));
		return new Tally(found, broken, stale(history), failed(history), stuck(history), stall(history));
	}

	private static long stale(History history) {
		long stale = 0;
		Map<String, Event> latest = new HashMap<>();
		Set<String> late = new HashSet<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case GRANTED -> latest.put(event.key(), event);
				case WRITE -> {
					Event grant = latest.get(event.key());
					if (grant != null && !grant.call().equals(event.call())) {
						late.add(event.call());
					}
				}
				case WROTE -> stale += late.contains(event.call()) ? 1 : 0;
				default -> {
				}
			}
		}
		return stale;
	}

	private static long failed(History history) {
		Set<String> calls = new HashSet<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case UNKNOWN, LOST, STALE, DOUBTFUL -> calls.add(event.call());
				default -> {
				}
			}
		}
		return calls.size();
	}

	private static Set<String> stuck(History history) {
		return Takeover.inVain(history).stream().map(Takeover::key).collect(Collectors.toSet());
	}

	private static long stall(History history) {
		long longest = 0;
		int faults = 0;
		Map<String, Long> asked = new HashMap<>();
		Map<String, Long> late = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case FAULT -> faults++;
				case HEALED -> {
					faults--;
					asked.clear();
				}
				case VALID -> {
					Long before = asked.put(event.call(), event.at());
					if (before != null && faults == 0) {
						longest = Math.max(longest,
								late.merge(event.call(), Math.max(0, event.at() - before - ASKED), Long::sum));
					}
				}
				case WRITE -> asked.remove(event.call());
				default -> {
				}
			}
		}
		return TimeUnit.NANOSECONDS.toMillis(longest);
	}

}
