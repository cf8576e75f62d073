package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import io.mutex.lab.Event.Kind;

/**
 * The file that one process appends its history to. What it has written survives its
 * death.
 */
final class Recorder implements AutoCloseable {

	private final String process;

	private final FileChannel channel;

	Recorder(Path directory, String process) throws IOException {
		this.process = process;
		this.channel = FileChannel.open(directory.resolve(process + ".history"), StandardOpenOption.CREATE,
				StandardOpenOption.APPEND);
	}

	void write(Event event) {
		ByteBuffer line = ByteBuffer.wrap((event.format() + "\n").getBytes(StandardCharsets.UTF_8));
		try {
			synchronized (this.channel) {
				this.channel.write(line);
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
		this.channel.close();
	}

}
