package io.mutex.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A server that this JVM has started, with a directory of its own.
 */
final class ServerProcess {

	private static final Duration START_TIMEOUT = Duration.ofSeconds(90);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

	private static final int PORTS = 10_000;

	private static final int ATTEMPTS = 100;

	private final ServerProgram program;

	private final Path directory;

	private final int port;

	private @Nullable Process process;

	private @Nullable Watchdog watchdog;

	private ServerProcess(ServerProgram program, Path directory, int port) {
		this.program = program;
		this.directory = directory;
		this.port = port;
	}

	static ServerProcess start(ServerProgram program) {
		try {
			Path directory = Files.createTempDirectory("mutex-test-");
			program.initialize(directory);
			ServerProcess server = new ServerProcess(program, directory, freePort());
			Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stop " + server.port));
			server.start();
			program.started(server.address());
			return server;
		}
		catch (Exception ex) {
			throw new IllegalStateException("Failed to start a server", ex);
		}
	}

	ServerAddress address() {
		return this.program.address(this.port);
	}

	Path directory() {
		return this.directory;
	}

	synchronized List<Long> pids() {
		ProcessHandle root = running().toHandle();
		return Stream.concat(Stream.of(root), root.descendants()).map(ProcessHandle::pid).toList();
	}

	synchronized void start() {
		if (this.process != null && this.process.isAlive()) {
			throw new IllegalStateException("The server runs already");
		}
		try {
			File log = this.directory.resolve("server.log").toFile();
			this.process = new ProcessBuilder(this.program.command(this.directory, this.port))
				.directory(this.directory.toFile())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(log))
				.start();
			this.watchdog = Watchdog.over(this.process.toHandle(), this.directory);
			awaitReady(this.process);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	synchronized void kill() {
		end((running) -> Signals.kill(running.toHandle()));
	}

	synchronized void stop() {
		end((running) -> {
			Signals.resume(running.toHandle());
			Signals.send(this.program.stopSignal(), List.of(running.toHandle()));
			try {
				if (!running.waitFor(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
					Signals.kill(running.toHandle());
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				Signals.kill(running.toHandle());
			}
		});
	}

	synchronized void pause() {
		Signals.pause(running().toHandle());
	}

	synchronized void resume() {
		Signals.resume(running().toHandle());
	}

	synchronized void close() {
		kill();
		ServerFiles.delete(this.directory);
	}

	private Process running() {
		if (this.process == null || !this.process.isAlive()) {
			throw new IllegalStateException("The server doesn't run");
		}
		return this.process;
	}

	private void end(Consumer<Process> ending) {
		if (this.process != null && this.process.isAlive()) {
			ending.accept(this.process);
		}
		if (this.watchdog != null) {
			this.watchdog.close();
		}
		this.process = null;
		this.watchdog = null;
	}

	private void awaitReady(Process started) throws IOException {
		try {
			Awaitility.await()
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(50))
				.atMost(START_TIMEOUT)
				.until(() -> !started.isAlive() || isReady());
		}
		catch (ConditionTimeoutException ex) {
			throw new IOException("Not ready: " + log(), ex);
		}
		if (!started.isAlive()) {
			throw new IOException("Ended at once: " + log());
		}
	}

	private boolean isReady() {
		try {
			this.program.check(address());
			return true;
		}
		catch (Exception ex) {
			return false;
		}
	}

	private String log() throws IOException {
		return Files.readString(this.directory.resolve("server.log"));
	}

	static void runToEnd(Path log, List<String> command) throws IOException {
		Process process = new ProcessBuilder(command).directory(log.getParent().toFile())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		try {
			if (process.waitFor() != 0) {
				throw new IOException(command + " failed: " + Files.readString(log));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IOException("Interrupted", ex);
		}
	}

	// not one that the system gives to outgoing connections, which would take it while
	// the
	// server is down; the bus of a Redis cluster needs the one 10 000 above it too
	private static int freePort() throws IOException {
		for (int attempt = 1;; attempt++) {
			int port = ThreadLocalRandom.current().nextInt(PORTS, 2 * PORTS);
			try {
				new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
				new ServerSocket(port + PORTS, 1, InetAddress.getLoopbackAddress()).close();
				return port;
			}
			catch (BindException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

}
