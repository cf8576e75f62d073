package io.mutex.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.ReentrantLock;

import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread of the JVM at a time do anything with the lock file of a key.
 */
final class Gate {

	private static final int ATTEMPTS = 1000;

	private final LockDirectory directory;

	private final String namespace;

	private final JvmLocks locks;

	Gate(LockDirectory directory, String namespace, JvmLocks locks) {
		this.directory = directory;
		this.namespace = namespace;
		this.locks = locks;
	}

	KeyFiles files(String key) {
		return KeyFiles.of(this.directory.path(), this.namespace, key);
	}

	// again if the file was replaced meanwhile
	<A> A enter(String key, Step<A> step) {
		return reading(key, () -> {
			this.directory.prepare();
			KeyFiles files = files(key);
			for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
				FileIdentity identity = LockFile.ensure(files.lock());
				ReentrantLock gate = this.locks.gate(identity.text());
				gate.lock();
				try {
					A answer = identity.equals(FileIdentity.of(files.lock())) ? step.perform(files, identity) : null;
					if (answer != null) {
						return answer;
					}
				}
				finally {
					gate.unlock();
				}
			}
			throw new IOException("the lock file " + files.lock() + " is replaced all the time: what removes it?");
		});
	}

	<A> A reading(@Nullable String key, Uninterrupted.Step<A> step) {
		try {
			return Uninterrupted.call(step);
		}
		catch (IOException | UncheckedIOException ex) {
			throw new MutexException(key, "file provider: " + ((key != null) ? "key '" + key + "' " : "the locks ")
					+ "cannot be read or written, the outcome is not known. Check the disk space, the permissions and "
					+ "the open files of mutex.file.directory: " + ex.getMessage(), ex);
		}
	}

	/**
	 * What is done with the lock file of a key.
	 *
	 * @param <A> the type of the answer
	 */
	@FunctionalInterface
	interface Step<A> {

		@Nullable A perform(KeyFiles files, FileIdentity identity) throws IOException;

	}

}
