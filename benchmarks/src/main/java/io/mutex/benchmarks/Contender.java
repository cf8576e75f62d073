package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * One of several JVMs that want the same key. It reads what to do from its standard input
 * and prints the result; the times of {@link System#nanoTime()} are those of the host, so
 * that all begin and end together.
 */
public final class Contender {

	private Contender() {
	}

	/**
	 * Opens the store and obeys.
	 * @param arguments the kind of the store and its address
	 * @throws Exception if a call failed
	 */
	public static void main(String[] arguments) throws Exception {
		try (Calls calls = Calls.open(arguments)) {
			calls.of("mutex").run(Contender::nothing);
			System.out.println("READY");
			Scanner input = new Scanner(System.in);
			while (input.hasNextLine()) {
				Scanner command = new Scanner(input.nextLine());
				String what = command.next();
				Work work = calls.of(command.next());
				long start = command.nextLong();
				long millis = command.nextLong();
				System.out.println("RESULT " + (what.equals("crowd") ? crowd(work, start, millis, command.nextInt())
						: handOver(work, start, millis, command.nextLong())));
			}
		}
		System.exit(0);
	}

	private static void nothing() {
	}

	private static String crowd(Work work, long start, long millis, int threads) throws Exception {
		Crowd crowd = Crowd.round(start, millis, threads, (thread) -> work, true);
		return crowd.calls() + " " + crowd.longestWaitMillis();
	}

	// Holds the key for a while, again and again, and tells when each hold began and
	// ended.
	private static String handOver(Work work, long start, long millis, long holdMicros) throws Exception {
		List<long[]> holds = new ArrayList<>();
		while (System.nanoTime() - start < 0) {
			LockSupport.parkNanos(start - System.nanoTime());
		}
		while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(millis)) {
			work.run(() -> {
				long begin = System.nanoTime();
				while (System.nanoTime() - begin < TimeUnit.MICROSECONDS.toNanos(holdMicros)) {
					LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(holdMicros) - System.nanoTime() + begin);
				}
				holds.add(new long[] { begin, System.nanoTime() });
			});
		}
		return holds.stream().map((hold) -> hold[0] + ":" + hold[1]).collect(Collectors.joining(","));
	}

	/**
	 * What can be called in a store.
	 */
	private interface Calls extends AutoCloseable {

		static Calls open(String[] arguments) throws Exception {
			if (arguments[0].equals("redis")) {
				RedisStore store = new RedisStore(arguments[1], Integer.parseInt(arguments[2]));
				return calls(store, store.mutex().execute("shared"), store.redisson("shared"));
			}
			SqlStore store = new SqlStore(arguments[1], false);
			return calls(store, store.mutex().execute("shared"), store.integration("shared"));
		}

		private static Calls calls(AutoCloseable store, Work mutex, Work peer) {
			return new Calls() {

				@Override
				public Work of(String name) {
					return name.equals("mutex") ? mutex : peer;
				}

				@Override
				public void close() throws Exception {
					store.close();
				}

			};
		}

		Work of(String name);

	}

}
