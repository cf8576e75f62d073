package io.mutex.engine;

import java.util.concurrent.TimeUnit;

import io.mutex.LockProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to a store that reports keys that have become free, and tells the line. What is
 * lost costs one poll.
 */
final class Signals {

	/** How long to wait before listening again to a store that has failed. */
	private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

	private static final Logger logger = LoggerFactory.getLogger(Signals.class);

	private final LockProvider provider;

	private final String waiter;

	private final WaitingLine line;

	private final TimedLoop loop = new TimedLoop("mutex-signals", this::listen);

	private volatile boolean started;

	private volatile boolean stopped;

	private volatile @Nullable Thread listening;

	/**
	 * Creates the listener.
	 * @param provider the store
	 * @param waiter what the store knows this engine by, as one that waits
	 * @param line who is told
	 */
	Signals(LockProvider provider, String waiter, WaitingLine line) {
		this.provider = provider;
		this.waiter = waiter;
		this.line = line;
	}

	String waiter() {
		return this.waiter;
	}

	/**
	 * Listens from now on, unless it does already.
	 */
	void start() {
		if (!this.started) {
			this.started = true;
			this.loop.wakeWithin(0);
		}
	}

	private long listen() {
		this.listening = Thread.currentThread();
		try {
			if (!this.stopped && !this.provider.listen(this.waiter, this.line::released)) {
				this.loop.stop();
			}
		}
		catch (InterruptedException ex) {
			logger.debug("Interrupted while listening to the {} store", this.provider.name());
		}
		catch (RuntimeException ex) {
			logger.debug("The {} store stopped reporting; waiters poll until it does again", this.provider.name(), ex);
		}
		finally {
			this.listening = null;
		}
		return PAUSE;
	}

	/**
	 * Ends the thread, for good.
	 */
	void stop() {
		this.stopped = true;
		this.loop.stop();
		Thread running = this.listening;
		if (running != null) {
			running.interrupt();
		}
	}

}
