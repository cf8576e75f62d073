package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * How much several threads get done at once, and how evenly.
 *
 * @param perSecond how many calls ended in a second, of all threads
 * @param share the part of all calls that the luckiest thread made, times the number of
 * threads: 1 is even
 * @param longestWaitMillis the longest time from asking to being let in
 * @param calls how many calls ended, of all threads
 */
record Crowd(double perSecond, double share, double longestWaitMillis, long calls) {

	// so that all threads begin together
	private static final long BEFORE_START = TimeUnit.MILLISECONDS.toNanos(20);

	/**
	 * Lets candidates have all threads in turns, after a turn of each that does not
	 * count.
	 * @param scale how often and how long
	 * @param threads how many threads
	 * @param candidates what each thread does, by its number
	 * @param exclusive whether no two may be inside at once, whichever thread
	 * @return the rounds of each candidate
	 * @throws Exception if a call failed
	 */
	static Map<String, List<Crowd>> play(Scale scale, int threads, Map<String, IntFunction<Work>> candidates,
			boolean exclusive) throws Exception {
		Map<String, List<Crowd>> rounds = new LinkedHashMap<>();
		for (int repetition = -1; repetition < scale.repetitions(); repetition++) {
			for (Map.Entry<String, IntFunction<Work>> candidate : candidates.entrySet()) {
				Crowd round = round(System.nanoTime() + BEFORE_START, scale.millis(), threads, candidate.getValue(),
						exclusive);
				if (repetition >= 0) {
					rounds.computeIfAbsent(candidate.getKey(), (absent) -> new ArrayList<>()).add(round);
				}
			}
		}
		return rounds;
	}

	static Crowd round(long start, long millis, int threads, IntFunction<Work> candidate, boolean exclusive)
			throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
			AtomicInteger inside = exclusive ? new AtomicInteger() : null;
			List<Future<Caller>> running = new ArrayList<>();
			for (int thread = 0; thread < threads; thread++) {
				Caller caller = new Caller(candidate.apply(thread), (inside != null) ? inside : new AtomicInteger());
				running.add(executor.submit(() -> caller.callUntil(start, end)));
			}
			long[] calls = new long[threads];
			long longest = 0;
			for (int thread = 0; thread < threads; thread++) {
				Caller caller = running.get(thread).get();
				calls[thread] = caller.calls;
				longest = Math.max(longest, caller.longest);
			}
			long sum = Arrays.stream(calls).sum();
			double luckiest = Arrays.stream(calls).max().orElse(0);
			return new Crowd(sum * 1000.0 / millis, luckiest * threads / Math.max(1, sum), longest / 1e6, sum);
		}
		finally {
			executor.shutdownNow();
		}
	}

	static Spread perSecond(List<Crowd> rounds) {
		return Spread.of(rounds.stream().mapToDouble(Crowd::perSecond));
	}

	static Spread share(List<Crowd> rounds) {
		return Spread.of(rounds.stream().mapToDouble(Crowd::share));
	}

	static Spread longestWait(List<Crowd> rounds) {
		return Spread.of(rounds.stream().mapToDouble(Crowd::longestWaitMillis));
	}

	static Spread ratio(List<Crowd> rounds, List<Crowd> others) {
		double[] ratios = new double[rounds.size()];
		for (int round = 0; round < ratios.length; round++) {
			ratios[round] = rounds.get(round).perSecond() / others.get(round).perSecond();
		}
		return Spread.of(ratios);
	}

	/**
	 * One of the threads.
	 */
	private static final class Caller implements Runnable {

		private final Work work;

		private final AtomicInteger inside;

		private long asked;

		private long calls;

		private long longest;

		private Caller(Work work, AtomicInteger inside) {
			this.work = work;
			this.inside = inside;
		}

		Caller callUntil(long start, long end) throws Exception {
			while (System.nanoTime() - start < 0) {
				LockSupport.parkNanos(start - System.nanoTime());
			}
			this.asked = System.nanoTime();
			while (this.asked - end < 0) {
				this.work.run(this);
				this.calls++;
				this.asked = System.nanoTime();
			}
			return this;
		}

		@Override
		public void run() {
			if (this.inside.incrementAndGet() != 1) {
				throw new IllegalStateException("two were inside at once");
			}
			this.longest = Math.max(this.longest, System.nanoTime() - this.asked);
			this.inside.decrementAndGet();
		}

	}

}
