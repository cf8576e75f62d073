package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.opentest4j.TestAbortedException;

/**
 * Makes the flushes of running processes fail, by {@code strace}.
 */
final class Tracing implements AutoCloseable {

	private static final long ATTACHED_MILLIS = 300;

	private final Process strace;

	private final Path log;

	private Tracing(Process strace, Path log) {
		this.strace = strace;
		this.log = log;
	}

	/**
	 * Lets every flush of the processes, and of those that they start, end with an error.
	 * @param pids their ids
	 * @param directory where the log is written
	 * @return what is to be closed to end that
	 */
	static Tracing failFlushes(List<Long> pids, Path directory) {
		Path log = directory.resolve("strace-" + System.nanoTime());
		List<String> command = new ArrayList<>(List.of("strace", "-f", "-qq", "-o", log.toString(), "-e",
				"trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO"));
		pids.forEach((pid) -> command.addAll(List.of("-p", pid.toString())));
		Path complaints = directory.resolve("strace.log");
		try {
			Process strace = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(complaints.toFile())
				.start();
			if (strace.waitFor(ATTACHED_MILLIS, TimeUnit.MILLISECONDS)) {
				throw new TestAbortedException("strace cannot trace a server here: " + Files.readString(complaints));
			}
			return new Tracing(strace, log);
		}
		catch (IOException ex) {
			throw new TestAbortedException("there is no strace here: " + ex.getMessage(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	long failed() {
		try {
			return Files.exists(this.log)
					? Files.readString(this.log).lines().filter((line) -> line.contains("INJECTED")).count() : 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		this.strace.destroy();
		this.strace.onExit().join();
	}

}
