package io.mutex.lab;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

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

	// when the command was given that killed
	private static long begun(Event killed) {
		return killed.detail().isEmpty() ? killed.at() : Long.parseLong(killed.detail());
	}

}
