package io.mutex.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;

/**
 * Stops, continues and kills a process with everything it has started.
 */
final class Signals {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private Signals() {
	}

	/**
	 * Sends SIGSTOP and returns once the whole tree stands still.
	 * @param process the root of the tree
	 */
	static void pause(ProcessHandle process) {
		send("STOP", List.of(process));
		List<ProcessHandle> descendants = process.descendants().toList();
		send("STOP", descendants);
		await(process, Signals::isStopped);
		descendants.forEach((descendant) -> await(descendant, Signals::isStopped));
	}

	static void resume(ProcessHandle process) {
		send("CONT", process.descendants().toList());
		send("CONT", List.of(process));
	}

	/**
	 * Sends SIGKILL and returns once the whole tree is gone.
	 * @param process the root of the tree
	 */
	static void kill(ProcessHandle process) {
		send("STOP", List.of(process));
		List<ProcessHandle> descendants = process.descendants().toList();
		send("KILL", List.of(process));
		send("KILL", descendants);
		await(process, (handle) -> !handle.isAlive() || isZombie(handle));
		descendants.forEach((descendant) -> await(descendant, (handle) -> !handle.isAlive() || isZombie(handle)));
	}

	static void send(String signal, List<ProcessHandle> processes) {
		if (processes.isEmpty()) {
			return;
		}
		String pids = processes.stream()
			.map((process) -> Long.toString(process.pid()))
			.collect(Collectors.joining(" "));
		try {
			new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pids).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while sending " + signal, ex);
		}
	}

	private static void await(ProcessHandle process, Predicate<ProcessHandle> condition) {
		Awaitility.await("process " + process.pid())
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5))
			.atMost(TIMEOUT)
			.until(() -> condition.test(process));
	}

	private static boolean isStopped(ProcessHandle process) {
		char state = state(process);
		return state == 'T' || state == 'X' || state == 'Z';
	}

	private static boolean isZombie(ProcessHandle process) {
		char state = state(process);
		return state == 'X' || state == 'Z';
	}

	private static char state(ProcessHandle process) {
		try {
			String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
			return stat.charAt(stat.lastIndexOf(')') + 2);
		}
		catch (IOException ex) {
			return 'X';
		}
	}

}
