package io.mutex.lab;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.opentest4j.TestAbortedException;

/**
 * A file system of a few megabytes in memory, which can be filled.
 */
final class SmallDisk implements AutoCloseable {

	private static final int BLOCK = 4096;

	private final Path directory;

	private SmallDisk(Path directory) {
		this.directory = directory;
	}

	static SmallDisk mount(Path parent) {
		try {
			Path directory = Files.createDirectory(parent.resolve("disk"));
			if (run("mount", "-t", "tmpfs", "-o", "size=24m,mode=777", "mutex-lab", directory.toString()) != 0) {
				throw new TestAbortedException("no file system can be mounted here");
			}
			return new SmallDisk(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Path directory() {
		return this.directory;
	}

	/**
	 * Fills what is left.
	 * @return how many bytes that were
	 */
	long fill() {
		byte[] block = new byte[BLOCK];
		long written = 0;
		try (OutputStream output = Files.newOutputStream(filler())) {
			while (true) {
				output.write(block);
				written += BLOCK;
			}
		}
		catch (IOException ex) {
			return written;
		}
	}

	void free() {
		try {
			Files.deleteIfExists(filler());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Path filler() {
		return this.directory.resolve("filler");
	}

	@Override
	public void close() {
		run("umount", "-l", this.directory.toString());
	}

	private static int run(String... command) {
		try {
			return new ProcessBuilder(List.of(command)).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new TestAbortedException("there is no " + command[0] + " here", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
