package io.mutex.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Kills a process when this JVM ends, however it ends: its standard input is a pipe that
 * the kernel closes with the JVM.
 */
final class Watchdog implements AutoCloseable {

	private static final String SCRIPT = """
			trap '' HUP INT TERM
			cat > /dev/null
			kill -STOP "$1"
			kill -KILL $(cat /proc/"$1"/task/*/children) "$1"
			if [ -n "$2" ]; then sleep 1; rm -rf "$2"; fi
			""";

	private final Process process;

	private Watchdog(Process process) {
		this.process = process;
	}

	/**
	 * Watches over a process.
	 * @param guarded what is killed with all its children
	 * @param directory what is deleted then
	 * @return the watchdog, to be closed when the process has ended
	 */
	static Watchdog over(ProcessHandle guarded, @Nullable Path directory) {
		List<String> command = new ArrayList<>(List.of("setsid", "sh", "-c", SCRIPT, "watchdog"));
		command.add(Long.toString(guarded.pid()));
		command.add((directory != null) ? directory.toString() : "");
		try {
			return new Watchdog(new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.redirectError(ProcessBuilder.Redirect.DISCARD)
				.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		Signals.kill(this.process.toHandle());
	}

}
