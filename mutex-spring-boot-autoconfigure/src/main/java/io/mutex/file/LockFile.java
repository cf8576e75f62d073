package io.mutex.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import io.mutex.file.JvmLocks.HeldFile;
import org.jspecify.annotations.Nullable;

/**
 * The lock file of a key, asked for without waiting. To be used inside the gate of its
 * identity, and only if the JVM does not hold it.
 */
final class LockFile {

	private final JvmLocks locks;

	private final String identity;

	private final FileChannel channel;

	private final FileLock lock;

	private LockFile(JvmLocks locks, String identity, FileChannel channel, FileLock lock) {
		this.locks = locks;
		this.identity = identity;
		this.channel = channel;
		this.lock = lock;
	}

	/**
	 * Creates the file if it is missing. An existing one is not opened.
	 * @param path the path of the file
	 * @return the identity of the file at that path
	 * @throws IOException if there is none and none can be created
	 */
	static FileIdentity ensure(Path path) throws IOException {
		for (;;) {
			FileIdentity identity = FileIdentity.of(path);
			if (identity != null) {
				return identity;
			}
			try {
				Files.createFile(path);
			}
			catch (FileAlreadyExistsException ex) {
				// another process was first
			}
		}
	}

	/**
	 * Asks the kernel for the lock of the file.
	 * @param locks the files that this JVM holds
	 * @param identity the identity of the file
	 * @param path its path
	 * @return the file, locked by this process, or {@code null} if another holds it
	 * @throws IOException if the kernel cannot say
	 */
	static @Nullable LockFile tryLock(JvmLocks locks, String identity, Path path) throws IOException {
		return tryLock(locks, identity, path, false);
	}

	/**
	 * Asks the kernel for the lock of the file.
	 * @param locks the files that this JVM holds
	 * @param identity the identity of the file
	 * @param path its path
	 * @param shared whether other processes may hold it as well, if they share it, too
	 * @return the file, locked by this process, or {@code null} if another holds it
	 * @throws IOException if the kernel cannot say
	 */
	static @Nullable LockFile tryLock(JvmLocks locks, String identity, Path path, boolean shared) throws IOException {
		return tryLock(locks, identity, path, (channel) -> channel.tryLock(0, Long.MAX_VALUE, shared));
	}

	/**
	 * Asks the kernel for the lock of one byte of the file.
	 * @param locks the files that this JVM holds
	 * @param identity the identity of the file
	 * @param path its path
	 * @param position the byte
	 * @return the file, locked by this process, or {@code null} if another holds the byte
	 * @throws IOException if the kernel cannot say
	 */
	static @Nullable LockFile tryLock(JvmLocks locks, String identity, Path path, long position) throws IOException {
		return tryLock(locks, identity, path, (channel) -> channel.tryLock(position, 1, false));
	}

	private static @Nullable LockFile tryLock(JvmLocks locks, String identity, Path path, Attempt attempt)
			throws IOException {
		FileChannel parked = locks.unpark(identity);
		FileChannel channel = (parked != null && parked.isOpen()) ? parked
				: FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
		try {
			FileLock lock = attempt.on(channel);
			if (lock != null) {
				return new LockFile(locks, identity, channel, lock);
			}
			channel.close();
			return null;
		}
		catch (OverlappingFileLockException ex) {
			locks.park(identity, channel);
			return null;
		}
		catch (IOException ex) {
			channel.close();
			throw ex;
		}
	}

	/**
	 * Keeps the lock as that of a grant.
	 * @param nonce the nonce of the grant
	 * @param token its token
	 * @param grantId what tells the grant from those of other namespaces and keys
	 */
	void keep(String nonce, long token, String grantId) {
		this.locks.hold(new HeldFile(this.identity, this.channel, this.lock, nonce, token, grantId));
	}

	FileChannel channel() {
		return this.channel;
	}

	FileLock lock() {
		return this.lock;
	}

	void free() {
		JvmLocks.close(this.channel);
	}

	/**
	 * A question to the kernel.
	 */
	@FunctionalInterface
	private interface Attempt {

		@Nullable FileLock on(FileChannel channel) throws IOException;

	}

}
