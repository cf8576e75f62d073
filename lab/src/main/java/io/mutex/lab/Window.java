package io.mutex.lab;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The time in which a fault, or what it has left behind, explains what happens.
 *
 * @param from when the fault began, in nanoseconds
 * @param to when nothing of it is left, in nanoseconds
 * @param lifted the invariants that it lifts
 * @param victim the process that it meets, empty for all
 */
record Window(long from, long to, Set<String> lifted, String victim) {

	/**
	 * Whether the fault explains what a process has lost.
	 * @param process the process
	 * @return {@code false} if it has met another one
	 */
	boolean concerns(String process) {
		return this.victim.isEmpty() || this.victim.equals(process);
	}

	boolean contains(long at) {
		return this.from <= at && at <= this.to;
	}

	boolean meets(long begin, long end) {
		return this.from <= end && begin <= this.to;
	}

	/**
	 * The windows of the faults of a run. One that was not healed lasts for ever.
	 * @param history what was written down
	 * @param provider where the locks were
	 * @return the windows, in the order in which the faults ended
	 */
	static List<Window> of(History history, Provider provider) {
		List<Window> windows = new ArrayList<>();
		Map<String, Event> open = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case FAULT -> open.putIfAbsent(event.detail(), event);
				case HEALED -> {
					Event begun = open.remove(event.detail());
					if (begun != null) {
						Scenario fault = Scenario.valueOf(begun.detail());
						windows.add(of(begun, event.at() + fault.aftermath(provider).toNanos()));
					}
				}
				default -> {
				}
			}
		}
		open.values().forEach((begun) -> windows.add(of(begun, Long.MAX_VALUE)));
		return windows;
	}

	private static Window of(Event begun, long to) {
		String victim = begun.process().equals(Field.NEMESIS) ? "" : begun.process();
		return new Window(begun.at(), to, Scenario.valueOf(begun.detail()).lifted(), victim);
	}

}
