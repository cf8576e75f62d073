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
import java.util.stream.Stream;

/**
 * Who holds a key now, as far as the workers have written it down. Reads only what was
 * added to their histories since the last look.
 */
final class Holders {

	private final Path directory;

	private final Map<Path, Long> read = new HashMap<>();

	private final Map<String, Event> held = new HashMap<>();

	Holders(Path directory) {
		this.directory = directory;
	}

	/**
	 * A process that has held a key for some time, and so is in a long hold.
	 * @param processes the names of those that are wanted
	 * @param since the time before which it was granted
	 * @return the name of the process, if there is one
	 */
	synchronized Optional<String> find(List<String> processes, long since) {
		try (Stream<Path> files = Files.list(this.directory)) {
			for (Path file : files.filter((each) -> each.toString().endsWith(".history")).toList()) {
				added(file).lines().map(Event::parse).forEach(this::apply);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return this.held.values()
			.stream()
			.filter((grant) -> processes.contains(grant.process()) && grant.at() < since)
			.map(Event::process)
			.findFirst();
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
			case GRANTED -> this.held.put(event.call(), event);
			case END, LOST -> this.held.remove(event.call());
			default -> {
			}
		}
	}

}
