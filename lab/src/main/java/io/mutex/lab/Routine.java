package io.mutex.lab;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.StaleFencingTokenException;
import io.mutex.lab.Event.Kind;

/**
 * What every worker does, whatever locks it takes. A thread for each key takes the lock
 * again and again, writes to guarded data, and writes down what it does, until the
 * process is told to end.
 */
public abstract class Routine {

	/** The keys of guarded data. */
	public static final List<String> KEYS = List.of("one", "two", "three");

	private static final int ATTEMPTS = 30;

	private static final Duration LATE = Duration.ofSeconds(1);

	private final Ledger ledger;

	private final AtomicLong attempts = new AtomicLong(System.nanoTime());

	private volatile boolean stopped;

	protected Routine(Ledger ledger) {
		this.ledger = ledger;
	}

	/**
	 * Works until the standard input says the end, answers what the guarded data is, and
	 * ends the process.
	 * @param arguments the name of the process, the directory of the run, and the seed
	 * @throws Exception if the process cannot go on
	 */
	protected final void play(String... arguments) throws Exception {
		long seed = Long.parseLong(arguments[2]);
		Ballast ballast = new Ballast(Integer.getInteger("lab.ballast", 0));
		try (Recorder recorder = new Recorder(Path.of(arguments[1]), arguments[0])) {
			List<Thread> threads = new ArrayList<>();
			for (String key : KEYS) {
				Thread thread = new Thread(() -> work(recorder, key, new Random(seed + key.hashCode())), key);
				thread.setDaemon(true);
				thread.setUncaughtExceptionHandler((dead, ex) -> died(dead, ex.toString(), ex.getStackTrace()));
				thread.start();
				threads.add(thread);
			}
			System.out.println("READY");
			awaitEnd(ballast);
			this.stopped = true;
			for (Thread thread : threads) {
				thread.join(TimeUnit.SECONDS.toMillis(15));
				if (thread.isAlive()) {
					died(thread, "does not end", thread.getStackTrace());
				}
			}
			System.out.println("DONE");
			awaitEnd(ballast);
			for (String key : KEYS) {
				entries(key).forEach((entry) -> System.out.println("ENTRY " + key + " " + entry.format().strip()));
			}
			System.out.println("ENTRIES");
		}
		Runtime.getRuntime().halt(0);
	}

	// a line ends the work, another one asks for the data
	private static void awaitEnd(Ballast ballast) throws IOException {
		while (true) {
			switch (readLine()) {
				case "gc" -> System.out.println("PAUSE " + ballast.collect());
				case "time" -> System.out.println("TIME " + System.nanoTime());
				default -> {
					return;
				}
			}
		}
	}

	private static String readLine() throws IOException {
		ByteArrayOutputStream line = new ByteArrayOutputStream();
		for (int next = System.in.read(); next >= 0 && next != '\n'; next = System.in.read()) {
			line.write(next);
		}
		return line.toString(StandardCharsets.US_ASCII);
	}

	// a server that has just come back may not answer at once
	private List<Entry> entries(String key) {
		for (int attempt = 1;; attempt++) {
			try {
				return this.ledger.entries(key);
			}
			catch (RuntimeException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
				pause(1000);
			}
		}
	}

	private static void died(Thread thread, String text, StackTraceElement[] stack) {
		System.out.println("DIED " + thread.getName() + ": " + text
				+ Arrays.stream(stack).map((frame) -> " at " + frame).collect(Collectors.joining()));
	}

	private void work(Recorder recorder, String key, Random random) {
		while (!this.stopped) {
			long attempt = this.attempts.incrementAndGet();
			if (random.nextInt(5) == 0) {
				run(new Call(recorder, attempt, "job-" + key),
						Long.toString(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime())));
			}
			else {
				int hold = (random.nextInt(10) == 0) ? 2500 : random.nextInt(60);
				write(new Call(recorder, attempt, key), hold, random);
			}
			pause(random.nextInt(10));
		}
	}

	/**
	 * Writes once to guarded data, under the lock of its key.
	 * @param call what is written down
	 * @param hold how long to stay between the reading and the writing, in milliseconds
	 * @param random what else is drawn
	 */
	protected abstract void write(Call call, int hold, Random random);

	/**
	 * Runs a job that is to run once a unit.
	 * @param call what is written down
	 * @param unit the unit
	 */
	protected abstract void run(Call call, String unit);

	/**
	 * Makes a call and writes down how it ended.
	 * @param call what is written down
	 * @param body acquires, works and releases
	 */
	protected final void attempt(Call call, Runnable body) {
		call.record(Kind.ACQUIRE, System.currentTimeMillis());
		try {
			body.run();
			call.record(Kind.RELEASED, "");
		}
		catch (RuntimeException ex) {
			call.record(kind(call, ex), ex.toString());
		}
		finally {
			// what the engine could not clear would end the next call
			Thread.interrupted();
		}
	}

	/**
	 * What the failure of a call says.
	 * @param call the call
	 * @param failure how it ended
	 * @return what to write down
	 */
	protected Kind kind(Call call, RuntimeException failure) {
		return call.hasBegun() ? Kind.LOST : Kind.UNKNOWN;
	}

	/**
	 * Writes to the guarded data of the key.
	 * @param call what is written down
	 * @param lease the lease
	 * @param hold how long to stay between the reading and the writing, in milliseconds
	 */
	protected final void add(Call call, Lease lease, int hold) {
		long[] number = new long[1];
		try {
			this.ledger.add(lease, (next) -> {
				number[0] = next;
				call.record(Kind.READ, hold);
				stay(call, hold);
				call.record(Kind.WRITE, next);
			});
			call.record(Kind.WROTE, number[0]);
		}
		catch (StaleFencingTokenException ex) {
			call.record(Kind.STALE, number[0]);
			throw ex;
		}
		catch (LeaseLostException ex) {
			if (number[0] > 0) {
				call.record(Kind.LATE, number[0]);
				force(call, lease, number[0]);
			}
			throw ex;
		}
		catch (RuntimeException ex) {
			call.record(Kind.DOUBTFUL, number[0]);
			throw ex;
		}
		call.isValid();
	}

	// what the holder did not send is sent when another one holds the key
	private void force(Call call, Lease lease, long number) {
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < LATE.toNanos()) {
			Thread.interrupted();
			pause(10);
		}
		call.record(Kind.WRITE, number);
		try {
			this.ledger.force(lease, number);
			call.record(Kind.WROTE, number);
		}
		catch (StaleFencingTokenException ex) {
			call.record(Kind.STALE, number);
		}
		catch (RuntimeException ex) {
			call.record(Kind.DOUBTFUL, number);
		}
	}

	/**
	 * Stays for some time, or until the lease is lost. A body that knows that goes on:
	 * the storage is to refuse it.
	 * @param call what is written down
	 * @param millis how long
	 */
	protected static void stay(Call call, int millis) {
		long begin = System.nanoTime();
		boolean valid = call.isValid();
		while (valid && System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(millis)) {
			pause(10);
			valid = call.isValid();
		}
	}

	private static void pause(int millis) {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
	}

}
