package io.mutex.lab;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.mutex.lab.Event.Kind;

/**
 * What a long run has counted.
 *
 * @param faults how often each fault was made to happen
 * @param attempted the writes that were sent to the storage after a later grant
 * @param refused those of them that the storage has refused
 * @param unknown those of them whose answer did not arrive
 * @param accepted those of them that the storage has accepted
 * @param keptBack the writes that were not sent, since the holder knew that its lease was
 * lost
 * @param lost the leases that were lost although no fault was near
 * @param unanswered the acquisitions that ended without an answer
 * @param doubtful the writes of all holders whose answer did not arrive
 * @param done those of them that are in the data
 */
record Figures(Map<String, Long> faults, long attempted, long refused, long unknown, long accepted, long keptBack,
		long lost, long unanswered, long doubtful, long done) {

	static final Figures NONE = new Figures(Map.of(), 0, 0, 0, 0, 0, 0, 0, 0, 0);

	static Figures of(History history, List<Window> windows) {
		Map<String, Long> faults = new TreeMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case FAULT -> faults.merge(event.detail(), 1L, Long::sum);
				case KILLED -> faults.merge("P1", 1L, Long::sum);
				default -> {
				}
			}
		}
		Set<String> kept = history.entries().stream().map(Entry::written).collect(Collectors.toSet());
		Map<Kind, Long> stale = stale(history, kept);
		List<Event> doubtful = history.of(Kind.DOUBTFUL)
			.stream()
			.filter((event) -> !event.detail().equals("0"))
			.toList();
		long done = doubtful.stream().filter((event) -> kept.contains(event.written())).count();
		return new Figures(faults, sum(stale, Kind.STALE, Kind.WROTE, Kind.DOUBTFUL), sum(stale, Kind.STALE),
				sum(stale, Kind.DOUBTFUL), sum(stale, Kind.WROTE), history.count(Kind.LATE), lost(history, windows),
				history.count(Kind.UNKNOWN), doubtful.size(), done);
	}

	private static long sum(Map<Kind, Long> counts, Kind... kinds) {
		return Arrays.stream(kinds).mapToLong((kind) -> counts.getOrDefault(kind, 0L)).sum();
	}

	// how the writes ended that began after a later grant; one that is in the data was
	// accepted, whatever its holder has heard
	private static Map<Kind, Long> stale(History history, Set<String> kept) {
		Map<Kind, Long> ends = new HashMap<>();
		Map<String, Long> latest = new HashMap<>();
		Map<String, Event> late = new HashMap<>();
		for (Event event : history.events()) {
			switch (event.kind()) {
				case GRANTED -> latest.merge(event.key(), event.token(), Math::max);
				case WRITE -> {
					if (event.token() < latest.getOrDefault(event.key(), 0L)) {
						late.put(event.call(), event);
					}
				}
				case WROTE, STALE, DOUBTFUL, LATE -> {
					if (late.remove(event.call()) != null) {
						boolean done = event.kind() == Kind.DOUBTFUL && kept.contains(event.written());
						ends.merge(done ? Kind.WROTE : event.kind(), 1L, Long::sum);
					}
				}
				default -> {
				}
			}
		}
		// their processes have died meanwhile
		late.values()
			.forEach((write) -> ends.merge(kept.contains(write.written()) ? Kind.WROTE : Kind.DOUBTFUL, 1L, Long::sum));
		return ends;
	}

	// before the first fault the applications warm up
	private static long lost(History history, List<Window> windows) {
		long begin = windows.stream().mapToLong(Window::from).min().orElse(Long.MAX_VALUE);
		Map<String, Event> first = new HashMap<>();
		history.of(Kind.LOST).stream().filter(Event::isLoss).forEach((event) -> first.putIfAbsent(event.call(), event));
		return first.values()
			.stream()
			.filter((event) -> event.at() >= begin && windows.stream()
				.noneMatch((window) -> window.concerns(event.process()) && window.contains(event.at())))
			.count();
	}

}
