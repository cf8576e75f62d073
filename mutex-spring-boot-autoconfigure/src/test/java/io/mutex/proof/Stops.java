package io.mutex.proof;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

import io.mutex.FencingPolicy;
import io.mutex.MutexException;
import io.mutex.proof.GuardedWorker.Observer;
import io.mutex.proof.Ledger.Line;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;

/**
 * Stops a worker at one place of its work until its lease has ended and another one has
 * written, as far as it can, lets it go on, and counts what becomes of its write.
 */
final class Stops {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final Guarding guarding;

	private final Place place;

	private final JavaProcess paused;

	private final GuardedWorker successor;

	private final FencingPolicy fencing;

	private final ExecutorService threads;

	private final Set<Long> overtakenTokens = new HashSet<>();

	private final Set<Long> awaitedTokens = new HashSet<>();

	private List<Line> lines = List.of();

	private int stops;

	private int outlasted;

	private int refusedByStorage;

	private int refusedByOwnClocks;

	private int endedByServer;

	private int writtenAgain;

	private Duration slowest = Duration.ZERO;

	Stops(Guarding guarding, Place place, JavaProcess paused, GuardedWorker successor, FencingPolicy fencing,
			ExecutorService threads) {
		this.guarding = guarding;
		this.place = place;
		this.paused = paused;
		this.successor = successor;
		this.fencing = fencing;
		this.threads = threads;
	}

	/**
	 * The key that is written to.
	 * @param guarding the guard
	 * @param place the place
	 * @return the key
	 */
	static String key(Guarding guarding, Place place) {
		return guarding + "-" + place;
	}

	/**
	 * Stops the worker until so many stops have outlasted its lease.
	 * @param wanted how many
	 * @return this
	 */
	Stops play(int wanted) {
		while (this.outlasted < wanted && this.stops < 2 * wanted + 5) {
			stop();
		}
		this.lines = this.successor.ledger().lines(key(this.guarding, this.place));
		return this;
	}

	private void stop() {
		String key = key(this.guarding, this.place);
		long refusals = refusals();
		this.paused.sendLine(key + " " + this.place);
		long token = Long.parseLong(this.paused.awaitLine("AT ", PATIENCE).split(" ")[1]);
		this.paused.pause();
		long begin = System.nanoTime();
		this.stops++;
		CompletableFuture<Long> successor = CompletableFuture.supplyAsync(() -> overtake(key), this.threads);
		boolean waits = this.guarding.waitsAt(this.place);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> successor.isDone()
					|| (waits && System.nanoTime() - begin > GuardedWorker.LEASE.toNanos() * 3 / 2));
		boolean overtaken = successor.isDone();
		if (overtaken) {
			Duration took = Duration.ofNanos(System.nanoTime() - begin);
			this.slowest = (took.compareTo(this.slowest) > 0) ? took : this.slowest;
		}
		// the store gives the key to another only when the lease is over
		if (overtaken || System.nanoTime() - begin > GuardedWorker.LEASE.toNanos()) {
			this.outlasted++;
		}
		this.paused.sendLine("on");
		this.paused.resume();
		String[] end = this.paused.awaitLine("END ", PATIENCE).split(" ");
		successor.join();
		count(token, overtaken, end, refusals() - refusals);
	}

	private void count(long token, boolean overtaken, String[] end, long refusals) {
		if (!overtaken) {
			this.awaitedTokens.add(token);
			return;
		}
		this.overtakenTokens.add(token);
		boolean refusedAtOnce = end[1].equals("REFUSED") && end[2].equals("StaleFencingTokenException");
		if (refusals > 0 || refusedAtOnce) {
			this.refusedByStorage++;
		}
		else if (end[1].equals("REFUSED")) {
			this.refusedByOwnClocks++;
		}
		else if (end[1].equals("FAILED")) {
			this.endedByServer++;
		}
		if (end[1].equals("ACCEPTED") && Long.parseLong(end[2]) != token) {
			this.writtenAgain++;
		}
	}

	private long overtake(String key) {
		long begin = System.nanoTime();
		while (true) {
			try {
				return this.successor.add(key, Duration.ofSeconds(30), this.fencing, Observer.NOBODY);
			}
			catch (MutexException ex) {
				// the guard is locked by the transaction of the one that stands still
				if (System.nanoTime() - begin > TimeUnit.MINUTES.toNanos(1)) {
					throw ex;
				}
			}
		}
	}

	private long refusals() {
		return this.paused.output().stream().filter((line) -> line.startsWith("STALE ")).count();
	}

	int outlasted() {
		return this.outlasted;
	}

	/**
	 * How many workers went on after another one had written, and tried to write.
	 * @return the number
	 */
	int attempted() {
		return this.overtakenTokens.size();
	}

	int refusedByStorage() {
		return this.refusedByStorage;
	}

	/**
	 * How many of their writes are in the ledger.
	 * @return the number
	 */
	long accepted() {
		return written(this.overtakenTokens);
	}

	/**
	 * How many workers made the next one wait for the end of their write.
	 * @return the number
	 */
	int awaited() {
		return this.awaitedTokens.size();
	}

	/**
	 * How many of those writes are in the ledger.
	 * @return the number
	 */
	long inTime() {
		return written(this.awaitedTokens);
	}

	private long written(Set<Long> tokens) {
		return this.lines.stream().filter((line) -> tokens.contains(line.token())).count();
	}

	History history() {
		return new History(this.lines);
	}

	@Override
	public String toString() {
		return key(this.guarding, this.place);
	}

	/**
	 * The counts, for people.
	 * @return one line
	 */
	String figures() {
		StringBuilder figures = new StringBuilder().append(this.stops)
			.append(" stops, ")
			.append(this.outlasted)
			.append(" beyond the lease; ");
		if (attempted() > 0) {
			figures.append(attempted())
				.append(" overtaken within ")
				.append(this.slowest.toMillis())
				.append(" ms: ")
				.append(this.refusedByStorage)
				.append(" refused by the storage (")
				.append(this.writtenAgain)
				.append(" then wrote with a new token), ")
				.append(this.refusedByOwnClocks)
				.append(" by their own clocks, ")
				.append(this.endedByServer)
				.append(" ended by the server, ")
				.append(accepted())
				.append(" accepted; ");
		}
		return figures.append(awaited())
			.append(" made the next one wait, ")
			.append(inTime())
			.append(" of them wrote")
			.toString();
	}

}
