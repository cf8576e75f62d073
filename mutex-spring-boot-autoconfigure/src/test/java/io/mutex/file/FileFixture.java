package io.mutex.file;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
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

	static AcquireRequest request(String key, String nonce, int permits, @Nullable String waiter) {
		AcquireRequest request = request(key, nonce, null);
		Reservation reservation = (waiter != null) ? new Reservation(waiter, TTL) : null;
		return new AcquireRequest(key, key, nonce, request.owner(), TTL, 0, null, 0, 1, permits, reservation);
	}

	static Grant share(LockProvider provider, String key, int permits) {
		String nonce = nonce();
		return grant(key, nonce, provider.acquire(request(key, nonce, permits, null)), permits);
	}

	static Acquisition acquire(LockProvider provider, String key) {
		return provider.acquire(request(key, nonce(), null));
	}

	static Grant grant(LockProvider provider, String key) {
		return grant(provider, key, null);
	}

	static Grant grant(LockProvider provider, String key, @Nullable String unit) {
		String nonce = nonce();
		return grant(key, nonce, provider.acquire(request(key, nonce, unit)), 1);
	}

	private static Grant grant(String key, String nonce, Acquisition answer, int permits) {
		if (answer instanceof Acquisition.Granted granted) {
			return new Grant(key, nonce, granted.token(), TTL, permits);
		}
		throw new AssertionError("not granted: " + answer);
	}

}
