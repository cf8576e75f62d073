package io.mutex.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.mutex.LockProvider;
import io.mutex.LockProviderContractTests;
import io.mutex.MovableClock;
import io.mutex.ProviderFactory;
import io.mutex.RestartableStore;
import org.junit.jupiter.api.io.TempDir;

/**
 * The file provider under the contract.
 */
class FileLockProviderTests extends LockProviderContractTests {

	private final Map<String, MovableClock> clocks = new ConcurrentHashMap<>();

	@TempDir(factory = MemoryDirectory.class)
	@SuppressWarnings("NullAway.Init")
	private static Path directory;

	@Override
	protected LockProvider createProvider(String namespace) {
		return new FileLockProvider(new LockDirectory(directory, namespace, false, NetworkFileSystems::typeOf),
				namespace, clock(namespace), new Durability());
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
	protected ProviderFactory.Spec otherProcess() {
		return ProviderFactory.Spec.of(Factory.class, directory.toString());
	}

	/**
	 * A directory has nothing to restart; a new provider finds all in it.
	 */
	@Override
	protected RestartableStore startRestartableStore() {
		return new RestartableStore() {

			@Override
			public LockProvider open(String namespace) {
				return createProvider("restarted-" + namespace);
			}

			@Override
			public void restart() {
			}

		};
	}

	/**
	 * Opens the directory in a child.
	 */
	public static final class Factory implements ProviderFactory {

		@Override
		public LockProvider create(String namespace, List<String> arguments) {
			return new FileLockProvider(Path.of(arguments.get(0)), namespace, false);
		}

	}

}
