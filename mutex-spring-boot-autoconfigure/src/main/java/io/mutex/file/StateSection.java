package io.mutex.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.mutex.file.JvmLocks.HeldFile;
import org.jspecify.annotations.Nullable;

/**
 * The moment in which one process of all may write the state of a key that nobody holds
 * alone: it has the lock of a byte far behind those of the holders, and whoever holds the
 * key alone has that of all bytes. To be used inside the gate of the file.
 * <p>
 * Each of several holders has the lock of a byte of its own, the first that is free. So
 * the kernel knows who lives, and those who ask for one of the first k bytes are never
 * more than k.
 */
final class StateSection implements AutoCloseable {

	private static final long POSITION = 1L << 62;

	private final JvmLocks locks;

	private final String identity;

	private final FileChannel channel;

	private final FileLock lock;

	private StateSection(JvmLocks locks, String identity, FileChannel channel, FileLock lock) {
		this.locks = locks;
		this.identity = identity;
		this.channel = channel;
		this.lock = lock;
	}

	/**
	 * Asks the kernel for the section.
	 * @param locks the files that this JVM holds, this one at most together with others
	 * @param identity the identity of the file
	 * @param path its path
	 * @return the section, or {@code null} if another process is in it or holds the key
	 * alone
	 * @throws IOException if the kernel cannot say
	 */
	static @Nullable StateSection tryEnter(JvmLocks locks, String identity, Path path) throws IOException {
		HeldFile held = locks.held(identity);
		if (held != null) {
			FileLock lock = tryLock(held.channel(), POSITION);
			return (lock != null) ? new StateSection(locks, identity, held.channel(), lock) : null;
		}
		LockFile file = LockFile.tryLock(locks, identity, path, POSITION);
		return (file != null) ? new StateSection(locks, identity, file.channel(), file.lock()) : null;
	}

	// no interrupt closes the channel during this call, as it would during lock()
	private static @Nullable FileLock tryLock(FileChannel channel, long position) throws IOException {
		try {
			return channel.tryLock(position, 1, false);
		}
		catch (OverlappingFileLockException ex) {
			return null;
		}
	}

	/**
	 * The holders that live, as the kernel says it.
	 * @param state the state, or {@code null} if there is none
	 * @return those whose bytes are locked
	 * @throws IOException if the kernel cannot say
	 */
	List<SharedHolder> living(@Nullable StoredState state) throws IOException {
		List<SharedHolder> stored = (state != null) ? state.sharers() : List.of();
		Set<Long> own = ownSlots();
		List<SharedHolder> living = new ArrayList<>();
		for (SharedHolder sharer : stored) {
			// a foreign holder of a byte that this JVM believes to have lives, too: a
			// close by other code of this JVM may have freed it
			if (own.contains(sharer.slot()) || isLocked(sharer.slot())) {
				living.add(sharer);
			}
		}
		return living;
	}

	/**
	 * Whether a holder is one of this JVM.
	 * @param sharer the holder
	 * @param files the files of the key
	 * @return whether this JVM has its byte
	 */
	boolean isOwn(SharedHolder sharer, KeyFiles files) {
		return this.locks.held(this.identity, files.grantId(sharer.nonce())) != null;
	}

	private Set<Long> ownSlots() {
		return this.locks.all(this.identity)
			.stream()
			.map((held) -> held.lock().position())
			.collect(Collectors.toUnmodifiableSet());
	}

	private boolean isLocked(long slot) throws IOException {
		FileLock probe = tryLock(this.channel, slot);
		if (probe == null) {
			return true;
		}
		probe.release();
		return false;
	}

	/**
	 * Takes the first byte that is free.
	 * @param permits how many bytes there are
	 * @return its lock, or {@code null} if none is free
	 * @throws IOException if the kernel cannot say
	 */
	@Nullable FileLock take(int permits) throws IOException {
		Set<Long> own = ownSlots();
		for (long slot = 0; slot < permits; slot++) {
			FileLock lock = own.contains(slot) ? null : tryLock(this.channel, slot);
			if (lock != null) {
				return lock;
			}
		}
		return null;
	}

	/**
	 * Keeps the lock of a byte as that of a grant.
	 * @param lock the lock
	 * @param nonce the nonce of the grant
	 * @param token its token
	 * @param grantId what tells the grant from those of other namespaces and keys
	 */
	void keep(FileLock lock, String nonce, long token, String grantId) {
		this.locks.hold(new HeldFile(this.identity, this.channel, lock, nonce, token, grantId));
	}

	@Override
	public void close() {
		if (this.locks.held(this.identity) != null) {
			JvmLocks.release(this.lock);
		}
		else {
			JvmLocks.close(this.channel);
		}
	}

}
