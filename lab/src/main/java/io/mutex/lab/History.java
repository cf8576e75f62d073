package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What all processes have written down, in the order of time, and what the guarded data
 * says of itself.
 *
 * @param events the events, by time
 * @param entries the log of the guarded data, in the order of the storage
 */
record History(List<Event> events, List<Entry> entries) {

	/** How much before and after a violation is shown, in nanoseconds. */
	static final long MARGIN = 1_000_000_000L;

	History(List<Event> events, List<Entry> entries) {
		this.events = events.stream().sorted(Comparator.comparingLong(Event::at)).toList();
		this.entries = List.copyOf(entries);
	}

	/**
	 * Reads the files of all processes. A line that its process could not finish is left
	 * out.
	 * @param directory where they are
	 * @param entries the log of the guarded data
	 * @return the history
	 * @throws IOException if they cannot be read
	 */
	static History read(Path directory, List<Entry> entries) throws IOException {
		List<Event> events = new ArrayList<>();
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".history")).toList()) {
				String text = Files.readString(file);
				text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Event::parse).forEach(events::add);
			}
		}
		return new History(events, entries);
	}

	/**
	 * When the history begins.
	 * @return the time of the first event, in nanoseconds, 0 if there is none
	 */
	long began() {
		return this.events.isEmpty() ? 0 : this.events.get(0).at();
	}

	List<Event> of(Event.Kind kind) {
		return this.events.stream().filter((event) -> event.kind() == kind).toList();
	}

	long count(Event.Kind kind) {
		return this.events.stream().filter((event) -> event.kind() == kind).count();
	}

	/**
	 * The events of each call, in the order of time.
	 * @return the calls by their names
	 */
	Map<String, List<Event>> calls() {
		return by(Event::call);
	}

	Map<String, List<Event>> by(Function<Event, String> property) {
		return this.events.stream().collect(Collectors.groupingBy(property));
	}

	/**
	 * A timeline of what concerns a violation, one line an event.
	 * @param violation the violation
	 * @return the text
	 */
	String timeline(Violation violation) {
		StringBuilder text = new StringBuilder(violation.invariant() + " " + violation.key() + ": " + violation.text())
			.append('\n');
		for (Event event : this.events) {
			boolean concerned = event.key().equals(violation.key()) || event.key().isEmpty();
			if (concerned && event.at() >= violation.from() - MARGIN && event.at() <= violation.to() + MARGIN) {
				text.append(String.format("%+12.3f ms  %-10s %-10s %-8s token=%d nonce=%s %s%n",
						(event.at() - violation.from()) / 1e6, event.call(), event.kind(), event.key(), event.token(),
						event.nonce(), event.detail()));
			}
		}
		return text.toString();
	}

}
