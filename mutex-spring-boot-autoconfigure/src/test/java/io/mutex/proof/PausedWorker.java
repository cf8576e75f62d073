package io.mutex.proof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.proof.GuardedWorker.Observer;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.testing.JavaProcess;

/**
 * A process that writes to a ledger when it is told to on standard input, and stands
 * still at a place of the work until it is told to go on.
 */
final class PausedWorker {

	private static final Duration STARTUP = Duration.ofMinutes(3);

	private final GuardedWorker worker;

	private final BufferedReader input;

	private PausedWorker(GuardedWorker worker, BufferedReader input) {
		this.worker = worker;
		this.input = input;
	}

	/**
	 * Starts the process.
	 * @param guarding locks and guard
	 * @param addresses where they are
	 * @param namespace the namespace
	 * @param fencing whether the storage is to refuse earlier holders
	 * @return the process, which has done its work once
	 */
	static JavaProcess start(Guarding guarding, Addresses addresses, String namespace, FencingPolicy.Mode fencing) {
		JavaProcess process = JavaProcess.of(PausedWorker.class)
			.jvmArguments("-Xmx128m", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
			.start(guarding.name(), addresses.locks(), addresses.data(), namespace, fencing.name());
		process.awaitLine("READY", STARTUP);
		return process;
	}

	public static void main(String[] arguments) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		FencingPolicy fencing = new FencingPolicy(null, FencingPolicy.Mode.valueOf(arguments[4]));
		try (GuardedWorker worker = new GuardedWorker(Guarding.valueOf(arguments[0]),
				new Addresses(arguments[1], arguments[2]), arguments[3], "paused")) {
			warmUp(worker, fencing);
			System.out.println("READY");
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				String[] words = line.split(" ");
				new PausedWorker(worker, input).add(words[0], Place.valueOf(words[1]), fencing);
			}
		}
		System.exit(0);
	}

	// the first lease may end while classes are loaded
	private static void warmUp(GuardedWorker worker, FencingPolicy fencing) {
		long begin = System.nanoTime();
		while (true) {
			try {
				worker.add("warm", STARTUP, fencing, Observer.NOBODY);
				return;
			}
			catch (RuntimeException ex) {
				if (System.nanoTime() - begin > STARTUP.toNanos()) {
					throw ex;
				}
			}
		}
	}

	private void add(String key, Place place, FencingPolicy fencing) {
		Stop stop = new Stop(place);
		// a lease that ends before the place proves nothing
		String end = "";
		while (!stop.reached) {
			end = add(key, fencing, stop);
		}
		System.out.println("END " + end);
	}

	private String add(String key, FencingPolicy fencing, Stop stop) {
		try {
			return "ACCEPTED " + this.worker.add(key, Duration.ofSeconds(20), fencing, stop);
		}
		catch (MutexException ex) {
			return "REFUSED " + ex.getClass().getSimpleName() + " " + ex.getMessage();
		}
		catch (RuntimeException ex) {
			return "FAILED " + ex;
		}
	}

	/**
	 * Stands still at a place, once.
	 */
	private final class Stop implements Observer {

		private final Place place;

		private boolean reached;

		private Stop(Place place) {
			this.place = place;
		}

		@Override
		public void passing(Lease lease, Place passed) {
			if (this.reached || passed != this.place) {
				return;
			}
			this.reached = true;
			System.out.println("AT " + lease.token());
			try {
				PausedWorker.this.input.readLine();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		@Override
		public void refused(StaleFencingTokenException refusal) {
			System.out.println("STALE " + refusal.getToken() + " " + refusal.getAccepted());
		}

	}

}
