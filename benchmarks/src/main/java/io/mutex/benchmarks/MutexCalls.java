package io.mutex.benchmarks;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.FencingPolicy;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.LockRequest;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * The calls of Mutex that are measured, of a provider alone and of the template that
 * applications use.
 */
final class MutexCalls implements AutoCloseable {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final SecureRandom random = new SecureRandom();

	private final Owner owner = new Owner("pod-1", "host-1", ProcessHandle.current().pid(), "main");

	private final AtomicLong units = new AtomicLong();

	private final LockProvider provider;

	private final LockEngine engine;

	MutexCalls(LockProvider provider) {
		this.provider = provider;
		this.engine = new LockEngine(provider, EngineSettings.defaults("pod-1"), List.of());
	}

	LockEngine engine() {
		return this.engine;
	}

	/**
	 * Acquires and releases at the provider, without a unit.
	 * @param key the key
	 * @return the work
	 */
	Work lock(String key) {
		return (body) -> {
			String nonce = nonce();
			acquire(key, nonce, null);
			body.run();
			settled(this.provider.release(key, nonce, true));
		};
	}

	/**
	 * Acquires with a look at the record of a unit, and releases.
	 * @param key the key
	 * @return the work
	 */
	Work lockWithRecordCheck(String key) {
		RunUnit unit = RunUnit.of("2026-11-30");
		return (body) -> {
			String nonce = nonce();
			acquire(key, nonce, unit);
			body.run();
			settled(this.provider.release(key, nonce, false));
		};
	}

	/**
	 * Acquires for a unit and records its success with the release, each time the next
	 * unit.
	 * @param key the key
	 * @return the work
	 */
	Work run(String key) {
		return (body) -> {
			String nonce = nonce();
			String unit = "run-" + this.units.incrementAndGet();
			Grant grant = acquire(key, nonce, RunUnit.of(unit));
			body.run();
			settled(this.provider.complete(grant, unit));
		};
	}

	/**
	 * Runs under the lock as applications do, without a unit and without a guard.
	 * @param key the key
	 * @return the work
	 */
	Work execute(String key) {
		LockRequest request = LockRequest.of(key).withFencing(FencingPolicy.NONE).withWaitFor(PATIENCE);
		return (body) -> this.engine.<Boolean, RuntimeException>execute(request, (lease) -> {
			body.run();
			return true;
		});
	}

	/**
	 * Runs a unit as applications do, each time the next one.
	 * @param key the key
	 * @return the work
	 */
	Work singleRun(String key) {
		LockRequest request = LockRequest.of(key);
		return (body) -> {
			RunUnit unit = RunUnit.of("single-" + this.units.incrementAndGet());
			RunResult<Boolean> result = this.engine.<Boolean, RuntimeException>singleRun(request.withUnit(unit),
					(lease) -> {
						body.run();
						return true;
					});
			if (result.outcome() != Outcome.EXECUTED) {
				throw new IllegalStateException("not executed: " + result.reason());
			}
		};
	}

	private Grant acquire(String key, String nonce, @Nullable RunUnit unit) {
		Acquisition answer = this.provider
			.acquire(new AcquireRequest(key, key, nonce, this.owner, LEASE, 0, unit, 0, 1));
		if (answer instanceof Acquisition.Granted granted) {
			return new Grant(key, nonce, granted.token(), LEASE);
		}
		throw new IllegalStateException("not granted: " + answer);
	}

	private static void settled(Settlement settlement) {
		if (settlement != Settlement.SETTLED) {
			throw new IllegalStateException("not settled: " + settlement);
		}
	}

	private String nonce() {
		byte[] bytes = new byte[16];
		this.random.nextBytes(bytes);
		return HexFormat.of().formatHex(bytes);
	}

	@Override
	public void close() {
		this.engine.close();
		this.provider.close();
	}

}
