package io.mutex.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;

/**
 * A process that uses many keys, once each, and measures what is left of them.
 */
final class ManyKeys {

	private static final int THREADS = 8;

	/** The code is compiled, and connections are open, after so many. */
	private static final int WARM_UP = 1_000;

	private ManyKeys() {
	}

	/**
	 * Uses the keys.
	 * @param arguments the store, its address, a namespace and how many keys
	 * @throws Exception if anything fails
	 */
	public static void main(String[] arguments) throws Exception {
		int keys = Integer.parseInt(arguments[3]);
		try (LockEngine engine = new LockEngine(Store.valueOf(arguments[0]).open(arguments[1], arguments[2]),
				EngineSettings.defaults("user"), List.of())) {
			connect(engine);
			use(engine, 0, WARM_UP);
			long before = heap();
			long start = System.nanoTime();
			use(engine, WARM_UP, WARM_UP + keys);
			long millis = (System.nanoTime() - start) / 1_000_000;
			System.out.println("used " + millis + " " + (heap() - before) + " " + before);
		}
		System.exit(0);
	}

	/**
	 * Uses a key until that succeeds, for a minute: a first connection may take long on a
	 * host under load.
	 * @param engine the engine
	 * @throws InterruptedException if the thread is interrupted
	 */
	static void connect(LockEngine engine) throws InterruptedException {
		long start = System.nanoTime();
		boolean connected = false;
		while (!connected) {
			try {
				engine.execute(LockRequest.of("first").withWaitFor(Site.PATIENCE), (lease) -> null);
				connected = true;
			}
			catch (MutexException ex) {
				if (System.nanoTime() - start > Site.PATIENCE.toNanos()) {
					throw ex;
				}
				Thread.sleep(100);
			}
		}
	}

	private static void use(LockEngine engine, int from, int to) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		List<Future<?>> parts = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int first = from + i;
			parts.add(threads.submit(() -> {
				for (int key = first; key < to; key += THREADS) {
					engine.execute(LockRequest.of("order:" + key).withName("order:#{#id}"), (lease) -> null);
				}
				return null;
			}));
		}
		threads.shutdown();
		for (Future<?> part : parts) {
			part.get();
		}
	}

	/**
	 * The memory that is left after full collections.
	 * @return bytes
	 * @throws InterruptedException if the thread is interrupted
	 */
	static long heap() throws InterruptedException {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < 5; i++) {
			System.gc();
			// what a cleaner thread lets go of is collected next time
			Thread.sleep(50);
			least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
		}
		return least;
	}

}
