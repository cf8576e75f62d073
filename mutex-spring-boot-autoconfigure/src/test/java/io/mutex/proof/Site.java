package io.mutex.proof;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.RunResult;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.proof.Instance.Task;
import io.mutex.run.RunUnit;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;

/**
 * One store with a namespace of its own, the instances on it, and the effects of their
 * runs.
 */
final class Site implements AutoCloseable {

	/** Longer than anything takes. */
	static final Duration PATIENCE = Duration.ofSeconds(60);

	final Store store;

	final LockProvider provider;

	private final Path effects;

	final String address;

	final String namespace = "proof-" + UUID.randomUUID();

	private Site(Store store, Path effects) {
		this.store = store;
		this.effects = effects;
		this.address = store.prepare(effects);
		this.provider = store.open(this.address, this.namespace);
	}

	static Site of(Store store, Path directory) {
		try {
			return new Site(store, Files.createTempDirectory(directory, store.name()));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Starts another instance, which has used the store once.
	 * @param name its name
	 * @return its process
	 */
	JavaProcess start(String name) {
		JavaProcess process = Instance.start(name);
		join(process);
		return process;
	}

	/**
	 * Lets a running instance use this store as well.
	 * @param process its process
	 */
	void join(JavaProcess process) {
		Instance.open(process, this.store, this.address, this.namespace);
		process.sendLine(task("first-use", UUID.randomUUID().toString()).withId("first-use-" + this.store).toString());
		process.awaitLine("ended first-use-" + this.store, PATIENCE);
	}

	Task task(String key, String unit) {
		return Task.of(this.store, key, unit, this.effects);
	}

	/**
	 * Calls as an instance of this process, which ends afterwards.
	 * @param key the key
	 * @param unit the unit
	 * @param skipInDoubt the policy
	 * @param instance the name of the instance
	 * @return how the call ended
	 */
	RunResult<?> call(String key, String unit, boolean skipInDoubt, String instance) {
		try (LockEngine engine = new LockEngine(this.provider, EngineSettings.defaults(instance), List.of())) {
			LockRequest request = LockRequest.of(key)
				.withUnit(RunUnit.of(unit))
				.withLease(Duration.ofSeconds(30))
				.withSkipInDoubt(skipInDoubt);
			return engine.singleRun(request, (lease) -> {
				Instance.effect(this.effects, key, unit, instance);
				return "done";
			});
		}
	}

	void awaitFree(String key) {
		Awaitility.await().atMost(PATIENCE).until(() -> this.provider.lock(key).isEmpty());
	}

	long effects(String key, String unit) {
		Path file = this.effects.resolve(key);
		try {
			return Files.exists(file)
					? Files.readAllLines(file).stream().filter((line) -> line.startsWith(unit + " ")).count() : 0;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static long count(JavaProcess process, String prefix) {
		return process.output().stream().filter((line) -> line.startsWith(prefix)).count();
	}

	static String ended(JavaProcess process, String id) {
		String prefix = "ended " + id + " ";
		Awaitility.await().atMost(PATIENCE).until(() -> count(process, prefix) > 0);
		return process.output()
			.stream()
			.filter((line) -> line.startsWith(prefix))
			.findFirst()
			.orElseThrow()
			.substring(prefix.length());
	}

	@Override
	public void close() {
		this.provider.close();
	}

}
