package io.mutex.lab;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The time from the death of a holder to the next grant of its key, which others wait
 * for. It begins when the death was seen, so that the time of the command that kills is
 * left out.
 *
 * @param key the key
 * @param from when the holder was seen to be dead, in nanoseconds
 * @param to when the next one was granted, in nanoseconds; no earlier than that
 */
record Takeover(String key, long from, long to) {

	// much longer than a lease
	private static final long IN_VAIN = TimeUnit.SECONDS.toNanos(6);

	long nanos() {
		return this.to - this.from;
	}

	static List<Takeover> of(History history) {
		List<Takeover> takeovers = new ArrayList<>();
		// the grants without an end, and when the next one of their key came
		Map<String, Event> open = new HashMap<>();
		Map<String, Long> next = new HashMap<>();
		Map<String, Long> orphaned = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case GRANTED -> {
					open.values()
						.stream()
						.filter((grant) -> grant.key().equals(event.key()))
						.forEach((grant) -> next.putIfAbsent(grant.call(), event.at()));
					open.put(event.call(), event);
					Long since = orphaned.remove(event.key());
					if (since != null) {
						takeovers.add(new Takeover(event.key(), since, event.at()));
					}
				}
				case END -> open.remove(event.call());
				case KILLED -> {
					long begun = begun(event);
					for (Iterator<Event> grants = open.values().iterator(); grants.hasNext();) {
						Event grant = grants.next();
						if (grant.process().equals(event.process())) {
							grants.remove();
							Long after = next.get(grant.call());
							if (after == null) {
								orphaned.put(grant.key(), event.at());
							}
							else if (after >= begun) {
								takeovers.add(new Takeover(grant.key(), event.at(), event.at()));
							}
						}
					}
				}
				default -> {
				}
			}
		}
		return takeovers;
	}

	/**
	 * The keys that somebody waited for in vain although nobody held them.
	 * @param history what was written down
	 * @return since when they were free and wanted, until somebody gave up
	 */
	static List<Takeover> inVain(History history) {
		List<Takeover> inVain = new ArrayList<>();
		Map<String, Event> holders = new HashMap<>();
		Map<String, Long> free = new HashMap<>();
		Map<String, Long> invoked = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case ACQUIRE -> invoked.put(event.call(), event.at());
				case GRANTED -> holders.put(event.key(), event);
				case END -> {
					holders.remove(event.key());
					free.put(event.key(), event.at());
				}
				case KILLED -> holders.values().removeIf((grant) -> {
					boolean dead = grant.process().equals(event.process());
					if (dead) {
						free.put(grant.key(), event.at());
					}
					return dead;
				});
				case REFUSED -> {
					long since = Math.max(free.getOrDefault(event.key(), 0L),
							invoked.getOrDefault(event.call(), event.at()));
					if (!holders.containsKey(event.key()) && event.at() - since > IN_VAIN) {
						inVain.add(new Takeover(event.key(), since, event.at()));
					}
				}
				default -> {
				}
			}
		}
		return inVain;
	}

	// when the command was given that killed
	private static long begun(Event killed) {
		return killed.detail().isEmpty() ? killed.at() : Long.parseLong(killed.detail());
	}

}
