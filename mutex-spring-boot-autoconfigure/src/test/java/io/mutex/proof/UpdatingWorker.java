package io.mutex.proof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.mutex.FencingPolicy;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.testing.JavaProcess;

/**
 * A process that writes to some keys of a ledger with some threads, again and again, and
 * takes some milliseconds between the read and the write, and more between the check and
 * the commit.
 */
final class UpdatingWorker {

	private static final int THREADS = 4;

	private static final Duration STARTUP = Duration.ofMinutes(3);

	private UpdatingWorker() {
	}

	/**
	 * Starts the process.
	 * @param guarding locks and guard
	 * @param addresses where they are
	 * @param namespace the namespace
	 * @param fencing whether the storage is to refuse earlier holders
	 * @param keys the keys
	 * @return the process, which has begun to write
	 */
	static JavaProcess launch(Guarding guarding, Addresses addresses, String namespace, FencingPolicy.Mode fencing,
			List<String> keys) {
		return JavaProcess.of(UpdatingWorker.class)
			.jvmArguments("-Xmx128m", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
			.start(guarding.name(), addresses.locks(), addresses.data(), namespace, fencing.name(),
					String.join(",", keys));
	}

	static void awaitStart(JavaProcess process) {
		process.awaitLine("WRITES", STARTUP);
	}

	public static void main(String[] arguments) throws IOException {
		FencingPolicy fencing = new FencingPolicy(null, FencingPolicy.Mode.valueOf(arguments[4]));
		List<String> keys = List.of(arguments[5].split(","));
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		AtomicBoolean begun = new AtomicBoolean();
		GuardedWorker worker = new GuardedWorker(Guarding.valueOf(arguments[0]),
				new Addresses(arguments[1], arguments[2]), arguments[3], "pid-" + ProcessHandle.current().pid());
		for (int thread = 0; thread < THREADS; thread++) {
			Thread writer = new Thread(() -> {
				while (true) {
					String key = keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
					if (write(worker, key, fencing) && begun.compareAndSet(false, true)) {
						System.out.println("WRITES");
					}
				}
			});
			writer.setDaemon(true);
			writer.start();
		}
		input.readLine();
		// in the middle of whatever its threads do
		Runtime.getRuntime().halt(0);
	}

	private static boolean write(GuardedWorker worker, String key, FencingPolicy fencing) {
		try {
			worker.add(key, Duration.ofSeconds(5), fencing, (lease, place) -> {
				int longest = switch (place) {
					case BEFORE_REGISTRATION -> 1;
					case AFTER_READ -> 5;
					case BEFORE_COMMIT -> 15;
				};
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(longest)));
			});
			return true;
		}
		catch (RuntimeException ex) {
			System.out.println("REFUSED " + ex.getClass().getSimpleName());
			return false;
		}
	}

}
