package io.mutex;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Several threads that begin at the same moment.
 */
final class Crowd {

	private static final int PATIENCE = 60;

	private Crowd() {
	}

	/**
	 * Runs one task a thread and waits for all.
	 * @param <T> the type of the results
	 * @param threads how many
	 * @param tasks gives the task of each thread
	 * @return the results
	 * @throws Exception what a task has thrown
	 */
	static <T> List<T> run(int threads, IntFunction<Callable<T>> tasks) throws Exception {
		CyclicBarrier start = new CyclicBarrier(threads);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<T>> futures = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				Callable<T> task = tasks.apply(i);
				futures.add(executor.submit(() -> {
					start.await(PATIENCE, TimeUnit.SECONDS);
					return task.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get(PATIENCE, TimeUnit.SECONDS));
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

}
