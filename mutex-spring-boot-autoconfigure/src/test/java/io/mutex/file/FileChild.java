package io.mutex.file;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.testing.JavaProcess;
import org.jspecify.annotations.Nullable;

/**
 * Another process that uses the same directory, as its standard input tells it.
 */
final class FileChild implements AutoCloseable {

	static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final JavaProcess process;

	private FileChild(JavaProcess process) {
		this.process = process;
		this.process.awaitLine("ready", TIMEOUT);
	}

	static FileChild start(Path directory) {
		return new FileChild(JavaProcess.start(FileChild.class, directory.toString()));
	}

	static List<FileChild> start(int count, Path directory) {
		List<JavaProcess> processes = IntStream.range(0, count)
			.mapToObj((i) -> JavaProcess.start(FileChild.class, directory.toString()))
			.toList();
		return processes.stream().map(FileChild::new).toList();
	}

	JavaProcess process() {
		return this.process;
	}

	void send(String command) {
		this.process.sendLine(command);
	}

	String answer() {
		return this.process.awaitLine("= ", TIMEOUT).substring(2);
	}

	String ask(String command) {
		send(command);
		return answer();
	}

	@Override
	public void close() {
		this.process.close();
	}

	public static void main(String[] args) throws IOException {
		Session session = new Session(Path.of(args[0]));
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		System.out.println("ready");
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			System.out.println("= " + session.apply(line));
		}
	}

	/**
	 * What the child keeps between two commands.
	 */
	static final class Session implements UnaryOperator<String> {

		private final Path directory;

		private FileLockProvider provider;

		private @Nullable Grant grant;

		Session(Path directory) {
			this.directory = directory;
			this.provider = FileFixture.provider(directory);
		}

		@Override
		public String apply(String line) {
			return perform(line.split(" "));
		}

		private String perform(String[] words) {
			try {
				return switch (words[0]) {
					case "acquire" -> acquire(words[1], (words.length > 2) ? words[2] : null);
					case "share" -> answer(words[1], Integer.parseInt(words[2]));
					case "wait" -> answer(FileFixture.request(words[1], FileFixture.nonce(), 1, words[2]));
					case "section" -> section(words[1]);
					case "overlap" -> overlap(words[1]);
					case "permits" -> permits(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
					case "renew" -> this.provider.renew(List.of(grant())).get(0).name();
					case "release" -> this.provider.release(grant().key(), grant().nonce(), true).name();
					case "complete" -> this.provider.complete(grant(), words[1]).name();
					case "force" -> this.provider.forceRelease(words[1]).result().name();
					case "touch" -> touch(words[1], Long.parseLong(words[2]));
					case "list" -> this.provider.locks(10).toString();
					case "spawn" -> spawn();
					case "loop" -> loop(words[1], Integer.parseInt(words[2]));
					case "crash-after-rename" -> {
						this.provider = FileFixture.provider(this.directory, new Halting());
						yield "armed";
					}
					default -> throw new IllegalArgumentException(words[0]);
				};
			}
			catch (RuntimeException | IOException ex) {
				return "error " + ex;
			}
		}

		private Grant grant() {
			if (this.grant == null) {
				throw new IllegalStateException("no grant");
			}
			return this.grant;
		}

		private String acquire(String key, @Nullable String unit) {
			String nonce = FileFixture.nonce();
			return answer(FileFixture.request(key, nonce, unit));
		}

		private String answer(String key, int permits) {
			return answer(FileFixture.request(key, FileFixture.nonce(), permits, null));
		}

		private String answer(AcquireRequest request) {
			Acquisition answer = this.provider.acquire(request);
			if (answer instanceof Acquisition.Granted granted) {
				this.grant = new Grant(request.key(), request.nonce(), granted.token(), FileFixture.TTL,
						request.permits());
				return "granted " + granted.token() + ((granted.doubt() != null) ? " in doubt" : "");
			}
			if (answer instanceof Acquisition.Held held) {
				return "held " + ((held.holder() != null) ? held.holder().pid() : "unknown");
			}
			return answer.toString();
		}

		// locks the file of a key for a moment, and says for how long
		private String touch(String key, long millis) throws IOException {
			Path file = FileFixture.files(this.directory, key).lock();
			long start = System.nanoTime();
			try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
				channel.lock();
				System.out.println("locked");
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
			}
			return Long.toString(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
		}

		// stays in the section of a key until it has read another line
		private String section(String key) throws IOException {
			Path file = FileFixture.files(this.directory, key).lock();
			try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
				channel.lock(1L << 62, 1, false);
				System.out.println("= inside");
				while (System.in.read() != '\n') {
					Thread.onSpinWait();
				}
			}
			return "outside";
		}

		// reads without a gap, as long as it is let in
		private String overlap(String key) {
			AcquireRequest last = reader(key);
			while (!(this.provider.acquire(last) instanceof Acquisition.Granted)) {
				last = reader(key);
			}
			System.out.println("= reading");
			boolean refused = false;
			while (!refused) {
				AcquireRequest next = reader(key);
				refused = !(this.provider.acquire(next) instanceof Acquisition.Granted);
				this.provider.release(key, last.nonce(), true);
				last = next;
			}
			return "refused";
		}

		private static AcquireRequest reader(String key) {
			return FileFixture.request(key, FileFixture.nonce(), AcquireRequest.SHARED, null);
		}

		// sections that more than the permitted number of processes in them would notice
		private String permits(String key, int permits, int sections) throws IOException {
			Path inside = Files.createDirectories(this.directory.resolveSibling("inside"));
			int violations = 0;
			int company = 0;
			for (int done = 0; done < sections;) {
				AcquireRequest request = FileFixture.request(key, FileFixture.nonce(), permits, null);
				if (!(this.provider.acquire(request) instanceof Acquisition.Granted granted)) {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
					continue;
				}
				// the token is unique, or the file could not be created
				Path me = Files.createFile(inside.resolve(Long.toString(granted.token())));
				int together = inside.toFile().list().length;
				violations += (together > permits) ? 1 : 0;
				company += (together > 1) ? 1 : 0;
				Files.delete(me);
				this.provider.release(key, request.nonce(), true);
				done++;
			}
			return violations + " " + ((company > 0) ? "together" : "alone");
		}

		private static String spawn() throws IOException {
			return Long.toString(new ProcessBuilder("sleep", "60").start().pid());
		}

		// sections that a second process in them would notice
		private String loop(String key, int sections) throws IOException {
			Path detector = this.directory.resolveSibling("detector");
			Path counter = this.directory.resolveSibling("counter");
			int violations = 0;
			for (int done = 0; done < sections;) {
				String nonce = FileFixture.nonce();
				if (this.provider.acquire(FileFixture.request(key, nonce, null)) instanceof Acquisition.Granted) {
					try {
						Files.createDirectory(detector);
					}
					catch (FileAlreadyExistsException ex) {
						violations++;
					}
					int count = Files.exists(counter) ? Integer.parseInt(Files.readString(counter)) : 0;
					Files.writeString(counter, Integer.toString(count + 1));
					Files.deleteIfExists(detector);
					this.provider.release(key, nonce, true);
					done++;
				}
				else {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
				}
			}
			return "violations " + violations;
		}

	}

	/**
	 * Ends the process between the new state and the grant.
	 */
	private static final class Halting extends Durability {

		@Override
		void flushDirectory(Path directory) {
			Runtime.getRuntime().halt(7);
		}

	}

}
