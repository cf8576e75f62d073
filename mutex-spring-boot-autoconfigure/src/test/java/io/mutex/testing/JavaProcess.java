package io.mutex.testing;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A child JVM with the class path of this one, which can be killed and paused. It never
 * outlives this JVM.
 */
public final class JavaProcess implements AutoCloseable {

	private static final String END = "\0end";

	private final Process process;

	private final Watchdog watchdog;

	private final BufferedWriter input;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private final List<String> output = new ArrayList<>();

	private JavaProcess(Process process) {
		this.process = process;
		this.watchdog = Watchdog.over(process.toHandle(), null);
		this.input = process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "output of " + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Starts a child.
	 * @param main the class with the main method
	 * @param arguments its arguments
	 * @return the child
	 */
	public static JavaProcess start(Class<?> main, String... arguments) {
		return of(main).start(arguments);
	}

	/**
	 * Describes a child that needs more than arguments.
	 * @param main the class with the main method
	 * @return the description
	 */
	public static Builder of(Class<?> main) {
		return new Builder(main);
	}

	public long pid() {
		return this.process.pid();
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Reads on until a line begins as given; the lines before it are dropped.
	 * @param prefix how the line begins
	 * @param timeout how long to wait
	 * @return the whole line
	 */
	public String awaitLine(String prefix, Duration timeout) {
		long start = System.nanoTime();
		try {
			while (true) {
				long left = timeout.toNanos() - (System.nanoTime() - start);
				String line = this.lines.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
				if (line == null) {
					throw new AssertionError("No line '" + prefix + "' within " + timeout + ", but: " + output());
				}
				if (END.equals(line)) {
					this.lines.add(END);
					throw new AssertionError("The child ended without a line '" + prefix + "': " + output());
				}
				if (line.startsWith(prefix)) {
					return line;
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError("Interrupted while waiting for '" + prefix + "'", ex);
		}
	}

	/**
	 * All that the child has printed so far, errors included.
	 * @return the lines
	 */
	public List<String> output() {
		synchronized (this.output) {
			return List.copyOf(this.output);
		}
	}

	/**
	 * Writes a line to the standard input of the child.
	 * @param line the line
	 */
	public void sendLine(String line) {
		try {
			this.input.write(line);
			this.input.newLine();
			this.input.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Waits for the child to end.
	 * @param timeout how long to wait
	 * @return its exit value
	 */
	public int awaitExit(Duration timeout) {
		try {
			if (!this.process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
				throw new AssertionError("The child runs still after " + timeout + ": " + output());
			}
			return this.process.exitValue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError("Interrupted while waiting for the child", ex);
		}
	}

	/**
	 * Asks the child to end ({@code kill -TERM}), so that its shutdown hooks run.
	 */
	public void terminate() {
		this.process.destroy();
	}

	/**
	 * Kills the child ({@code kill -9}) and returns when it has ended.
	 */
	public void kill() {
		Signals.kill(this.process.toHandle());
	}

	/**
	 * Stops the child from running ({@code kill -STOP}) and returns when it stands still.
	 */
	public void pause() {
		Signals.pause(this.process.toHandle());
	}

	/**
	 * Lets the child run on after {@link #pause()}.
	 */
	public void resume() {
		Signals.resume(this.process.toHandle());
	}

	@Override
	public void close() {
		if (this.process.isAlive()) {
			kill();
		}
		this.watchdog.close();
	}

	private void read() {
		try (BufferedReader reader = this.process.inputReader(StandardCharsets.UTF_8)) {
			String line = reader.readLine();
			while (line != null) {
				synchronized (this.output) {
					this.output.add(line);
				}
				this.lines.add(line);
				line = reader.readLine();
			}
		}
		catch (IOException ex) {
			// The child was killed
		}
		finally {
			this.lines.add(END);
		}
	}

	/**
	 * What a child is started with.
	 */
	public static final class Builder {

		private final String main;

		private final List<String> jvmArguments = new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC"));

		private final Map<String, String> environment = new TreeMap<>(TestServers.environment());

		private final StringJoiner classPath = new StringJoiner(File.pathSeparator);

		private Builder(Class<?> main) {
			this.main = main.getName();
		}

		public Builder jvmArguments(String... arguments) {
			this.jvmArguments.addAll(List.of(arguments));
			return this;
		}

		public Builder systemProperty(String name, String value) {
			return jvmArguments("-D" + name + "=" + value);
		}

		public Builder environment(String name, String value) {
			this.environment.put(name, value);
			return this;
		}

		/**
		 * Puts classes before those of this process.
		 * @param directory a directory of classes, or a jar
		 * @return this
		 */
		public Builder preferClasses(Path directory) {
			this.classPath.add(directory.toString());
			return this;
		}

		public JavaProcess start(String... arguments) {
			List<String> command = new ArrayList<>();
			command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
			command.addAll(this.jvmArguments);
			command.add(this.main);
			command.addAll(List.of(arguments));
			ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
			builder.environment().putAll(this.environment);
			this.classPath.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
			builder.environment().put("CLASSPATH", this.classPath.toString());
			try {
				return new JavaProcess(builder.start());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
