package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

import io.mutex.memory.MemoryLockProvider;

/**
 * The queue of waiting threads beside the classical algorithms.
 */
final class LocalQueues {

	private LocalQueues() {
	}

	static void measure(Scale scale, Servers servers, Results results) throws Exception {
		measure(scale, results, 2);
		measure(scale, results, 8);
	}

	private static void measure(Scale scale, Results results, int threads) throws Exception {
		try (MutexCalls mutex = new MutexCalls(new MemoryLockProvider())) {
			Map<String, IntFunction<Work>> candidates = new LinkedHashMap<>();
			candidates.put("MutexTemplate, locks in memory", (thread) -> mutex.execute("hot"));
			candidates.put("test-and-set", new LocalLock.TestAndSet()::work);
			candidates.put("ticket, fetch-and-add", new LocalLock.Ticket()::work);
			candidates.put("CLH", new LocalLock.Clh()::work);
			if (threads == 2) {
				candidates.put("Peterson", new LocalLock.Peterson()::work);
			}
			candidates.put("bakery", new LocalLock.Bakery(threads)::work);
			candidates.put("Semaphore", LocalLock.of(new Semaphore(1))::work);
			candidates.put("Semaphore, fair", LocalLock.of(new Semaphore(1, true))::work);
			candidates.put("ReentrantLock", LocalLock.of(new ReentrantLock())::work);
			candidates.put("ReentrantLock, fair", LocalLock.of(new ReentrantLock(true))::work);
			Scale shorter = new Scale(scale.name(), Math.min(3, scale.repetitions()), 1, 1,
					Math.min(500, scale.millis()), 0, 0, 0);
			Map<String, List<Crowd>> crowds = Crowd.play(shorter, threads, candidates, true);
			List<List<String>> rows = new ArrayList<>();
			crowds.forEach((name, rounds) -> rows.add(HotKey.row(name, rounds)));
			results.add(new Results.Table("In one process, " + threads + " threads, one lock",
					"No store: what a queue alone costs. Those that spin yield after 64 rounds.",
					List.of("", "calls/s", "spread", "luckiest thread", "longest wait, ms"), rows));
		}
	}

}
