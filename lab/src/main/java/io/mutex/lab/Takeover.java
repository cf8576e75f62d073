package io.mutex.lab;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The time from the death of a holder to the next grant of its key, which others wait
 * for.
 *
 * @param key the key
 * @param from when the holder was killed, in nanoseconds
 * @param to when the next one was granted, in nanoseconds
 */
record Takeover(String key, long from, long to) {

	long nanos() {
		return this.to - this.from;
	}

	static List<Takeover> of(History history) {
		List<Takeover> takeovers = new ArrayList<>();
		Map<String, Event> held = new HashMap<>();
		Map<String, Long> orphaned = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case GRANTED -> {
					held.put(event.key(), event);
					Long since = orphaned.remove(event.key());
					if (since != null) {
						takeovers.add(new Takeover(event.key(), since, event.at()));
					}
				}
				case END -> held.remove(event.key(), grantOf(held, event));
				case KILLED -> held.values().removeIf((grant) -> {
					if (grant.process().equals(event.process())) {
						orphaned.put(grant.key(), event.at());
						return true;
					}
					return false;
				});
				default -> {
				}
			}
		}
		return takeovers;
	}

	private static Event grantOf(Map<String, Event> held, Event end) {
		Event grant = held.get(end.key());
		return (grant != null && grant.call().equals(end.call())) ? grant : end;
	}

}
