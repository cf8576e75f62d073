package io.mutex.memory;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.mutex.LockProvider;
import io.mutex.LockProviderContractTests;
import io.mutex.MovableClock;
import io.mutex.ProviderFactory;
import io.mutex.RestartableStore;
import org.jspecify.annotations.Nullable;

/**
 * The memory provider under the contract.
 */
class MemoryLockProviderTests extends LockProviderContractTests {

	private final Map<String, MovableClock> clocks = new ConcurrentHashMap<>();

	private final Map<String, LockProvider> namespaces = new ConcurrentHashMap<>();

	@Override
	protected LockProvider createProvider(String namespace) {
		return this.namespaces.computeIfAbsent(namespace, (absent) -> new MemoryLockProvider(clock(namespace)));
	}

	private MovableClock clock(String namespace) {
		return this.clocks.computeIfAbsent(namespace, (absent) -> new MovableClock());
	}

	@Override
	protected boolean letPass(String namespace, Duration time) {
		clock(namespace).advance(time);
		return true;
	}

	@Override
	protected ProviderFactory.@Nullable Spec otherProcess() {
		return null;
	}

	@Override
	protected @Nullable RestartableStore startRestartableStore() {
		return null;
	}

}
