package io.mutex.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.mutex.LockProvider;
import io.mutex.MutexListener;

/**
 * Makes engines for the tests, and closes them.
 */
final class Engines implements AutoCloseable {

	/** Longer than anything that a test waits for. */
	static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final SecureRandom RANDOM = new SecureRandom();

	final FaultyProvider store;

	final SettableTime time = new SettableTime();

	final Recorder events = new Recorder();

	final LockEngine engine;

	private final Collection<LockEngine> others = new ConcurrentLinkedQueue<>();

	final ExecutorService threads = Executors.newCachedThreadPool();

	Engines() {
		this(new FaultyProvider());
	}

	Engines(FaultyProvider store) {
		this.store = store;
		this.engine = engine(store, this.time, this.events);
	}

	/**
	 * Another instance of the application, on the same store, of which it has a provider
	 * of its own.
	 * @return the engine
	 */
	LockEngine other() {
		FaultyProvider provider = new FaultyProvider(this.store, this.store.expires());
		provider.listening = this.store::listen;
		LockEngine other = engine(provider, TimeSource.SYSTEM);
		this.others.add(other);
		return other;
	}

	static LockEngine engine(LockProvider store, TimeSource time, MutexListener... listeners) {
		EngineSettings settings = new EngineSettings("pod-1", Duration.ofSeconds(30), null, Duration.ofSeconds(30),
				null, true, Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofDays(90));
		return new LockEngine(store, settings, List.of(listeners), time, Engines::nonce);
	}

	static String nonce() {
		byte[] bytes = new byte[16];
		RANDOM.nextBytes(bytes);
		return HexFormat.of().formatHex(bytes);
	}

	/**
	 * Waits for a latch, however often the thread is interrupted.
	 * @param latch the latch
	 */
	static void awaitUninterruptibly(CountDownLatch latch) {
		boolean interrupted = false;
		try {
			long end = System.nanoTime() + PATIENCE.toNanos();
			while (latch.getCount() > 0 && System.nanoTime() < end) {
				try {
					latch.await(100, TimeUnit.MILLISECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
		if (latch.getCount() > 0) {
			throw new AssertionError("waited in vain");
		}
	}

	static void await(CountDownLatch latch) throws InterruptedException {
		if (!latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			throw new AssertionError("waited in vain");
		}
	}

	@Override
	public void close() {
		this.engine.close();
		this.others.forEach(LockEngine::close);
		this.threads.shutdownNow();
	}

}
