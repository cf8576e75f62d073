package io.mutex.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.opentest4j.TestAbortedException;

/**
 * The clocks of a process: the time of day, which a test can move while it runs, and how
 * fast all of them run. Needs gcc; without it the test is aborted, or fails where
 * {@code MUTEX_LAB_STRICT} is {@code true}.
 */
public final class ClockShim implements AutoCloseable {

	private static final int MILLION = 1_000_000;

	private final Path directory;

	private final long since = System.nanoTime();

	private int gain;

	private ClockShim(Path directory) {
		this.directory = directory;
	}

	public static ClockShim compile() {
		try {
			ClockShim shim = new ClockShim(Files.createTempDirectory("mutex-clock-"));
			shim.move(Duration.ZERO);
			try (InputStream source = ClockShim.class.getResourceAsStream("clock-shim.c")) {
				Files.copy(source, shim.directory.resolve("clock-shim.c"));
			}
			Process gcc = new ProcessBuilder("gcc", "-shared", "-fPIC", "-O1", "-o", shim.library().toString(),
					shim.directory.resolve("clock-shim.c").toString(), "-ldl")
				.redirectErrorStream(true)
				.redirectOutput(shim.directory.resolve("gcc.log").toFile())
				.start();
			// a database runs as somebody else
			shim.directory.toFile().setExecutable(true, false);
			if (gcc.waitFor() != 0) {
				throw new IOException(Files.readString(shim.directory.resolve("gcc.log")));
			}
			return shim;
		}
		catch (IOException ex) {
			throw unfit(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static RuntimeException unfit(IOException ex) {
		if (Boolean.parseBoolean(System.getenv("MUTEX_LAB_STRICT"))) {
			return new IllegalStateException("The clock of a server cannot be moved here", ex);
		}
		System.out.println("Skipped: the clock of a server cannot be moved here, since gcc fails: " + ex.getMessage());
		return new TestAbortedException("The clock of a server cannot be moved here", ex);
	}

	/**
	 * Moves the time of day.
	 * @param offset how far it lies from the true one, negative for back
	 */
	public void move(Duration offset) {
		write(0, offset.toNanos());
	}

	/**
	 * Lets all clocks run too fast or too slowly. To be said before a process starts with
	 * them.
	 * @param gain by how many parts in a million they run ahead, negative for behind
	 */
	public void drift(int gain) {
		this.gain = gain;
		write(1, this.since, gain);
	}

	/**
	 * What the right clock said when this one said something.
	 * @param nanos the monotonic time of a process with this clock, in nanoseconds
	 * @return the monotonic time of the host
	 */
	public long trueNanos(long nanos) {
		return (this.gain == 0) ? nanos : this.since + (nanos - this.since) * MILLION / (MILLION + this.gain);
	}

	private void write(int position, long... numbers) {
		ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES).order(ByteOrder.nativeOrder());
		bytes.asLongBuffer().put(numbers);
		try (FileChannel channel = FileChannel.open(this.directory.resolve("offset"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE)) {
			channel.write(bytes, (long) position * Long.BYTES);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The program of a server, run with this clock.
	 * @param program the program
	 * @return the changed program
	 */
	ServerProgram around(ServerProgram program) {
		return new ShiftedProgram(program, environment());
	}

	/**
	 * The environment that gives a process this clock.
	 * @return the variables
	 */
	public Map<String, String> environment() {
		return Map.of("LD_PRELOAD", library().toString(), "MUTEX_CLOCK_OFFSET",
				this.directory.resolve("offset").toString());
	}

	private Path library() {
		return this.directory.resolve("clock-shim.so");
	}

	@Override
	public void close() {
		ServerFiles.delete(this.directory);
	}

	/**
	 * A program with more in its environment.
	 *
	 * @param program the program
	 * @param environment what is added
	 */
	private record ShiftedProgram(ServerProgram program, Map<String, String> environment) implements ServerProgram {

		@Override
		public void initialize(Path directory) throws IOException {
			this.program.initialize(directory);
		}

		@Override
		public List<String> command(Path directory, int port) throws IOException {
			List<String> command = new ArrayList<>(List.of("env"));
			this.environment.forEach((name, value) -> command.add(name + "=" + value));
			command.addAll(this.program.command(directory, port));
			return command;
		}

		@Override
		public ServerAddress address(int port) {
			return this.program.address(port);
		}

		@Override
		public void check(ServerAddress address) throws Exception {
			this.program.check(address);
		}

		@Override
		public void started(ServerAddress address) throws Exception {
			this.program.started(address);
		}

		@Override
		public String stopSignal() {
			return this.program.stopSignal();
		}

	}

}
