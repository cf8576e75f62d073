package io.mutex.lab;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.mutex.lab.Event.Kind;

/**
 * The file that one process appends its history to. What it has written survives its
 * death.
 */
final class Recorder implements AutoCloseable {

	private final String process;

	// not a channel, which the interrupt of a body whose lease is lost would close
	private final FileOutputStream output;

	Recorder(Path directory, String process) throws IOException {
		this.process = process;
		this.output = new FileOutputStream(directory.resolve(process + ".history").toFile(), true);
	}

	void write(Event event) {
		byte[] line = (event.format() + "\n").getBytes(StandardCharsets.UTF_8);
		try {
			synchronized (this.output) {
				this.output.write(line);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void fault(Kind kind, String process, String detail) {
		write(new Event(System.nanoTime(), process, 0, kind, "", "", 0, detail));
	}

	String process() {
		return this.process;
	}

	@Override
	public void close() throws IOException {
		this.output.close();
	}

}
