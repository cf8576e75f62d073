package io.mutex.engine;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of an engine that no caller waits for. Those that talk to the store are
 * few; what belongs to the application runs on others, of which there are as many as it
 * blocks, so that it never keeps a lease from ending.
 */
final class EngineThreads implements AutoCloseable {

	private static final int STORE_THREADS = 4;

	private static final long IDLE_SECONDS = 10;

	private final ThreadPoolExecutor store = executor("mutex-background", STORE_THREADS, STORE_THREADS,
			new LinkedBlockingQueue<>());

	private final ThreadPoolExecutor application = executor("mutex-callback", 0, Integer.MAX_VALUE,
			new SynchronousQueue<>());

	EngineThreads() {
		this.store.allowCoreThreadTimeOut(true);
	}

	private static ThreadPoolExecutor executor(String name, int least, int most, BlockingQueue<Runnable> queue) {
		return new ThreadPoolExecutor(least, most, IDLE_SECONDS, TimeUnit.SECONDS, queue, (task) -> {
			Thread thread = new Thread(task, name);
			thread.setDaemon(true);
			return thread;
		}, (task, stopped) -> task.run());
	}

	/**
	 * For what talks to the store, and runs no code of the application.
	 * @return the executor
	 */
	Executor store() {
		return this.store;
	}

	/**
	 * For code of the application, which may block.
	 * @return the executor
	 */
	Executor application() {
		return this.application;
	}

	/**
	 * Ends the threads with what they have been given. What is given later runs on the
	 * thread that gives it.
	 */
	@Override
	public void close() {
		this.store.shutdown();
		this.application.shutdown();
	}

}
