package io.mutex.file;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * Requests of the tests of this package, and where the files of a key are.
 */
final class FileFixture {

	static final String NAMESPACE = "app";

	static final Duration TTL = Duration.ofSeconds(30);

	private FileFixture() {
	}

	static FileLockProvider provider(Path directory) {
		return new FileLockProvider(directory, NAMESPACE, false);
	}

	static FileLockProvider provider(Path directory, Durability durability) {
		return new FileLockProvider(directory(directory), NAMESPACE, Clock.systemUTC(), durability);
	}

	static LockDirectory directory(Path directory) {
		return new LockDirectory(directory, NAMESPACE, false, NetworkFileSystems::typeOf);
	}

	static KeyFiles files(Path directory, String key) {
		return KeyFiles.of(KeyFiles.namespaceDirectory(directory, NAMESPACE), NAMESPACE, key);
	}

	static String nonce() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	static AcquireRequest request(String key, String nonce, @Nullable String unit) {
		Owner owner = new Owner("test", "localhost", ProcessHandle.current().pid(), Thread.currentThread().getName());
		return new AcquireRequest(key, key, nonce, owner, TTL, 0, (unit != null) ? RunUnit.of(unit) : null, 0, 1);
	}

	static Acquisition acquire(LockProvider provider, String key) {
		return provider.acquire(request(key, nonce(), null));
	}

	static Grant grant(LockProvider provider, String key) {
		return grant(provider, key, null);
	}

	static Grant grant(LockProvider provider, String key, @Nullable String unit) {
		String nonce = nonce();
		Acquisition answer = provider.acquire(request(key, nonce, unit));
		if (answer instanceof Acquisition.Granted granted) {
			return new Grant(key, nonce, granted.token(), TTL);
		}
		throw new AssertionError("not granted: " + answer);
	}

}
