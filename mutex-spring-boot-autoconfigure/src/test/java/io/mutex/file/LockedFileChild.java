package io.mutex.file;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.mutex.Lease;
import io.mutex.testing.FixedLease;
import io.mutex.testing.JavaProcess;

/**
 * Another process that uses {@link LockedFile}, as its standard input tells it.
 */
final class LockedFileChild implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final JavaProcess process;

	private LockedFileChild(JavaProcess process) {
		this.process = process;
		this.process.awaitLine("ready", TIMEOUT);
	}

	static LockedFileChild start() {
		return new LockedFileChild(JavaProcess.start(LockedFileChild.class));
	}

	static List<LockedFileChild> start(int count) {
		List<JavaProcess> processes = IntStream.range(0, count)
			.mapToObj((i) -> JavaProcess.start(LockedFileChild.class))
			.toList();
		return processes.stream().map(LockedFileChild::new).toList();
	}

	JavaProcess process() {
		return this.process;
	}

	void send(String... words) {
		this.process.sendLine(String.join(" ", words));
	}

	String answer() {
		return this.process.awaitLine("= ", TIMEOUT).substring(2);
	}

	String ask(String... words) {
		send(words);
		return answer();
	}

	void awaitInside() {
		this.process.awaitLine("inside", TIMEOUT);
	}

	@Override
	public void close() {
		this.process.close();
	}

	public static void main(String[] args) throws IOException {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		System.out.println("ready");
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String answer;
			try {
				answer = perform(line.split(" "), in);
			}
			catch (RuntimeException ex) {
				answer = ex.toString();
			}
			System.out.println("= " + answer);
		}
	}

	private static String perform(String[] words, BufferedReader in) {
		Path path = Path.of(words[1]);
		switch (words[0]) {
			case "append" -> {
				for (int i = 0; i < Integer.parseInt(words[3]); i++) {
					LockedFile.append(path, words[2] + "-" + i);
				}
			}
			case "count" -> {
				for (int i = 0; i < Integer.parseInt(words[2]); i++) {
					LockedFile.update(path, LockedFileChild::increment);
				}
			}
			case "read" -> {
				return new String(LockedFile.read(path, lease(words)), StandardCharsets.UTF_8);
			}
			case "replace" -> LockedFile.replace(path, words[4].getBytes(StandardCharsets.UTF_8), lease(words));
			case "halt-after-fence" -> new LockedFiles(new Halting(), LockedFile.WAIT).update(path, lease(words),
					(old) -> words[4].getBytes(StandardCharsets.UTF_8));
			case "stay" -> LockedFile.update(path, lease(words), (old) -> {
				System.out.println("inside");
				await(in);
				return words[4].getBytes(StandardCharsets.UTF_8);
			});
			default -> throw new IllegalArgumentException(words[0]);
		}
		return "done";
	}

	static byte[] increment(byte[] old) {
		String text = new String(old, StandardCharsets.UTF_8);
		long count = text.isEmpty() ? 0 : Long.parseLong(text);
		return Long.toString(count + 1).getBytes(StandardCharsets.UTF_8);
	}

	private static Lease lease(String[] words) {
		return new FixedLease(words[2], Long.parseLong(words[3]), "nonce-" + words[3]);
	}

	private static void await(BufferedReader in) {
		try {
			in.readLine();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Ends the process between the fence and the content.
	 */
	private static final class Halting extends Durability {

		@Override
		void flushDirectory(Path directory) {
			Runtime.getRuntime().halt(7);
		}

	}

}
