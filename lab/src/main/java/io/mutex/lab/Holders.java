package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Who is between a guarded read and its write now, as far as the workers have written it
 * down. Reads only what was added to their histories since the last look.
 */
final class Holders {

	private final Path directory;

	private final UnaryOperator<Event> time;

	private final Map<Path, Long> read = new HashMap<>();

	private final Map<String, Event> reads = new HashMap<>();

	/**
	 * Looks at nothing yet.
	 * @param directory where the histories are
	 * @param time corrects the time of an event
	 */
	Holders(Path directory, UnaryOperator<Event> time) {
		this.directory = directory;
		this.time = time;
	}

	/**
	 * The process that will stay for longest between a read and a write, or does so under
	 * most keys.
	 * @param processes the names of those that are wanted
	 * @param nanos how long it has to stay at least
	 * @return the name of the process, if there is one
	 */
	synchronized Optional<String> find(List<String> processes, long nanos) {
		try (Stream<Path> files = Files.list(this.directory)) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".history")).toList()) {
				added(file).lines().map(Event::parse).map(this.time).forEach(this::apply);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		long until = System.nanoTime() + nanos;
		Map<String, Long> staying = this.reads.values()
			.stream()
			.filter((read) -> processes.contains(read.process())
					&& read.at() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(read.detail())) > until)
			.collect(Collectors.groupingBy(Event::process, Collectors.counting()));
		return staying.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
	}

	private String added(Path file) throws IOException {
		long from = this.read.getOrDefault(file, 0L);
		try (SeekableByteChannel channel = Files.newByteChannel(file)) {
			channel.position(from);
			ByteBuffer bytes = ByteBuffer.allocate((int) Math.max(0, channel.size() - from));
			while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
				// until the size that was found
			}
			String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
			String lines = text.substring(0, text.lastIndexOf('\n') + 1);
			this.read.put(file, from + lines.getBytes(StandardCharsets.UTF_8).length);
			return lines;
		}
	}

	private void apply(Event event) {
		switch (event.kind()) {
			case READ -> this.reads.put(event.call(), event);
			case WRITE, END, LOST -> this.reads.remove(event.call());
			default -> {
			}
		}
	}

}
