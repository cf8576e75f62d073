package io.mutex.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import io.mutex.engine.LockEngine;
import io.mutex.fence.FenceGuard;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the engine with the context: checks the store if somebody uses it. Drains the
 * engine with the context's shutdown, in the phase in which schedulers wait for their
 * running tasks.
 */
final class MutexLifecycle implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(MutexLifecycle.class);

	private final ObjectProvider<LockEngine> engine;

	private final ObjectProvider<LockProvider> provider;

	private final LockProviderSelector selector;

	private final BooleanSupplier used;

	private final BooleanSupplier ownEngine;

	private final MutexAnnotationBeanPostProcessor repeats;

	private final Duration drainTimeout;

	private volatile boolean running;

	MutexLifecycle(ObjectProvider<LockEngine> engine, ObjectProvider<LockProvider> provider,
			LockProviderSelector selector, BooleanSupplier used, BooleanSupplier ownEngine,
			MutexAnnotationBeanPostProcessor repeats, Duration drainTimeout) {
		this.engine = engine;
		this.provider = provider;
		this.selector = selector;
		this.used = used;
		this.ownEngine = ownEngine;
		this.repeats = repeats;
		this.drainTimeout = drainTimeout;
	}

	@Override
	public void start() {
		LockEngine started = usedEngine();
		if (started != null) {
			checkStore(this.provider.getObject());
			started.guards().forEach((guard) -> check(guard.name() + " guard", guard::check));
			started.start();
			this.repeats.startRepeating();
		}
		this.repeats.checkFencing(this::guards);
		this.running = true;
	}

	// An application may bring a template of its own, or use no lock at all.
	private @Nullable LockEngine usedEngine() {
		return this.used.getAsBoolean() ? this.engine.getIfAvailable() : null;
	}

	private void checkStore(LockProvider provider) {
		check(provider.name() + " store of the locks", () -> {
			provider.check();
			this.selector.announce(provider);
		});
	}

	// what the provider for tests protects needs no guard
	private @Nullable List<String> guards() {
		LockEngine used = this.engine.getIfAvailable();
		if (used == null) {
			return null;
		}
		List<String> names = used.guards().stream().map(FenceGuard::name).toList();
		String provider = this.provider.getObject().name();
		return (names.isEmpty() && provider.equals("memory")) ? List.of(provider) : names;
	}

	private static void check(String what, Runnable check) {
		try {
			check.run();
		}
		catch (StoreSetupException ex) {
			throw ex;
		}
		catch (MutexException ex) {
			logger.warn("The {} cannot be reached: {} Protected methods fail until it can.", what, ex.getMessage());
			logger.debug("The failed check", ex);
		}
	}

	@Override
	public void stop() {
		// one of a parent context goes on with that
		LockEngine stopped = (this.running && this.ownEngine.getAsBoolean()) ? usedEngine() : null;
		this.repeats.stopRepeating();
		if (stopped != null) {
			stopped.drain(this.drainTimeout);
		}
		this.running = false;
	}

	@Override
	public void stop(Runnable callback) {
		Thread drain = new Thread(() -> {
			try {
				stop();
			}
			finally {
				callback.run();
			}
		}, "mutex-drain");
		drain.start();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

}
