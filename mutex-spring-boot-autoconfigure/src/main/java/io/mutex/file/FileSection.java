package io.mutex.file;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.mutex.Lease;
import io.mutex.MutexException;
import io.mutex.file.JvmLocks.HeldFile;
import org.jspecify.annotations.Nullable;

/**
 * The time in which one thread holds the lock file of a guarded file. The kernel is asked
 * again and again and never waited on: it would find dead locks where there are none, and
 * an interrupt would close the channel.
 */
final class FileSection implements AutoCloseable {

	private static final long MIN_PAUSE = TimeUnit.MICROSECONDS.toNanos(200);

	private static final long MAX_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

	private final JvmLocks locks = JvmLocks.SHARED;

	private final Path path;

	// what the thread is known by to all class loaders
	private final String holder = "thread-" + Thread.currentThread().getId();

	private @Nullable HeldFile held;

	private FileSection(Path path) {
		this.path = path;
	}

	/**
	 * Waits for the lock, also while the thread is interrupted.
	 * @param file the file
	 * @param shared whether other processes may be in such a section, if theirs are
	 * shared, too
	 * @param lease a lease that must not be lost meanwhile
	 * @param wait how long to wait
	 * @return the section
	 * @throws IOException if the kernel cannot say
	 */
	static FileSection enter(GuardedFile file, boolean shared, @Nullable Lease lease, Duration wait)
			throws IOException {
		FileSection section = new FileSection(file.lock());
		long start = System.nanoTime();
		long pause = MIN_PAUSE;
		boolean interrupted = false;
		try {
			while (!Uninterrupted.call(() -> section.tryEnter(shared))) {
				if (lease != null) {
					lease.assertValid();
				}
				if (System.nanoTime() - start > wait.toNanos()) {
					throw new MutexException((lease != null) ? lease.key() : null,
							"the file " + file.path() + " has been locked for " + wait
									+ " by others: nothing was read or written. Is one of the processes stopped?");
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause / 2, pause));
				pause = Math.min(2 * pause, MAX_PAUSE);
				interrupted |= Thread.interrupted(); // or it would never park again
			}
			return section;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean tryEnter(boolean shared) throws IOException {
		FileIdentity identity = LockFile.ensure(this.path);
		ReentrantLock gate = this.locks.gate(identity.text());
		gate.lock();
		try {
			HeldFile other = this.locks.held(identity.text());
			if (other != null && other.nonce().equals(this.holder)) {
				throw new IllegalStateException("the function that is given to LockedFile uses its own file again: "
						+ this.path + " is its lock");
			}
			if (other != null || !identity.equals(FileIdentity.of(this.path))) {
				return false;
			}
			LockFile lock = LockFile.tryLock(this.locks, identity.text(), this.path, shared);
			if (lock == null) {
				return false;
			}
			if (!identity.equals(FileIdentity.of(this.path))) {
				lock.free();
				return false;
			}
			lock.keep(this.holder, 0, identity.text());
			this.held = this.locks.held(identity.text());
			return true;
		}
		finally {
			gate.unlock();
		}
	}

	/**
	 * Throws if somebody has removed the lock file, so that others may be in a section,
	 * too.
	 * @throws IOException if it is not the same file
	 */
	void assertIntact() throws IOException {
		FileIdentity current = FileIdentity.of(this.path);
		if (current == null || this.held == null || !current.text().equals(this.held.identity())) {
			throw new IOException("the lock file " + this.path + " was removed while it was held: what removes it?");
		}
	}

	@Override
	public void close() {
		HeldFile held = this.held;
		if (held == null) {
			return;
		}
		ReentrantLock gate = this.locks.gate(held.identity());
		gate.lock();
		try {
			this.locks.drop(held);
		}
		finally {
			gate.unlock();
		}
	}

}
