package io.mutex.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The lock files that this JVM holds. One table for all class loaders, since the kernel
 * knows only the process: a second channel on a held file, opened and closed by whoever,
 * frees its lock. Therefore the table has types of the JDK only, and nothing opens a lock
 * file without having passed its gate and found it free here.
 */
final class JvmLocks {

	static final JvmLocks SHARED = new JvmLocks();

	private static final String PROPERTY = "io.mutex.file.locks";

	private static final int GATES = 256;

	private final ReentrantLock[] gates;

	// identity -> grant id -> channel, lock, nonce, token; strong references, or the
	// collector would free the locks
	private final Map<String, Map<String, Object[]>> held;

	private final Map<String, String> identities;

	// channels that cannot be closed without freeing a lock of somebody else in this JVM
	private final Map<String, FileChannel> parked;

	@SuppressWarnings("unchecked")
	private JvmLocks() {
		Object[] table = (Object[]) System.getProperties().computeIfAbsent(PROPERTY, (absent) -> newTable());
		this.gates = (ReentrantLock[]) table[0];
		this.held = (Map<String, Map<String, Object[]>>) table[1];
		this.identities = (Map<String, String>) table[2];
		this.parked = (Map<String, FileChannel>) table[3];
	}

	private static Object[] newTable() {
		ReentrantLock[] gates = new ReentrantLock[GATES];
		for (int i = 0; i < GATES; i++) {
			gates[i] = new ReentrantLock();
		}
		return new Object[] { gates, new ConcurrentHashMap<String, Map<String, Object[]>>(),
				new ConcurrentHashMap<String, String>(), new ConcurrentHashMap<String, FileChannel>() };
	}

	/**
	 * What a thread holds while it does anything with a file.
	 * @param identity the identity of the lock file
	 * @return the gate, shared by some files
	 */
	ReentrantLock gate(String identity) {
		return this.gates[Math.floorMod(identity.hashCode() * 31, GATES)];
	}

	/**
	 * What this JVM holds of a file. To be called inside its gate.
	 * @param identity the identity of the file
	 * @return the first of its holders, or {@code null} if there is none
	 */
	@Nullable HeldFile held(String identity) {
		List<HeldFile> all = all(identity);
		return all.isEmpty() ? null : all.get(0);
	}

	/**
	 * All that this JVM holds of a file: one for a lock of the whole file, else one for
	 * each byte. To be called inside its gate.
	 * @param identity the identity of the file
	 * @return the holders, the latest last
	 */
	List<HeldFile> all(String identity) {
		return this.held.getOrDefault(identity, Map.of())
			.entrySet()
			.stream()
			.map((entry) -> HeldFile.of(identity, entry.getKey(), entry.getValue()))
			.toList();
	}

	/**
	 * What this JVM holds of a file for a grant. To be called inside its gate.
	 * @param identity the identity of the file
	 * @param grantId what tells the grant from all others
	 * @return the holder, or {@code null} if it is none
	 */
	@Nullable HeldFile held(String identity, String grantId) {
		Object[] entry = this.held.getOrDefault(identity, Map.of()).get(grantId);
		return (entry != null) ? HeldFile.of(identity, grantId, entry) : null;
	}

	/**
	 * The file that is held for a grant.
	 * @param grantId what tells the grant from all others
	 * @return the identity of the file, or {@code null} if none is held for the grant
	 */
	@Nullable String identityOf(String grantId) {
		return this.identities.get(grantId);
	}

	/**
	 * Does something with the file of a grant, inside its gate.
	 * @param grantId what tells the grant from all others
	 * @param step what to do
	 * @return the answer of the step, or {@code false} if no file is held for the grant
	 * @throws IOException if the step fails
	 */
	boolean ifHeld(String grantId, Step step) throws IOException {
		String identity = this.identities.get(grantId);
		if (identity == null) {
			return false;
		}
		ReentrantLock gate = gate(identity);
		gate.lock();
		try {
			HeldFile held = held(identity, grantId);
			return held != null && step.perform(held);
		}
		finally {
			gate.unlock();
		}
	}

	void hold(HeldFile file) {
		this.held.computeIfAbsent(file.identity(), (absent) -> new LinkedHashMap<>())
			.put(file.grantId(), new Object[] { file.channel(), file.lock(), file.nonce(), file.token() });
		this.identities.put(file.grantId(), file.identity());
	}

	/**
	 * Forgets a holder and frees its lock, if there still is one. The channel stays open
	 * for the others: closing it would free theirs.
	 * @param file the holder
	 */
	void drop(HeldFile file) {
		Map<String, Object[]> holders = this.held.getOrDefault(file.identity(), new LinkedHashMap<>());
		holders.remove(file.grantId());
		this.identities.remove(file.grantId());
		if (holders.isEmpty()) {
			this.held.remove(file.identity());
			close(file.channel());
		}
		else {
			release(file.lock());
		}
	}

	static void release(FileLock lock) {
		try {
			lock.release();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void park(String identity, FileChannel channel) {
		this.parked.put(identity, channel);
	}

	@Nullable FileChannel unpark(String identity) {
		return this.parked.remove(identity);
	}

	static void close(FileChannel channel) {
		try {
			channel.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Something to do with a held file.
	 */
	@FunctionalInterface
	interface Step {

		boolean perform(HeldFile held) throws IOException;

	}

	/**
	 * A lock file that this JVM holds, or a byte of it.
	 *
	 * @param identity the identity of the file
	 * @param channel the only channel of this JVM on it
	 * @param lock the lock of the whole file, or of one byte
	 * @param nonce the nonce of the grant
	 * @param token the token of the grant
	 * @param grantId what tells the grant from those of other namespaces and keys
	 */
	record HeldFile(String identity, FileChannel channel, FileLock lock, String nonce, long token, String grantId) {

		private static HeldFile of(String identity, String grantId, Object[] entry) {
			return new HeldFile(identity, (FileChannel) entry[0], (FileLock) entry[1], (String) entry[2],
					(Long) entry[3], grantId);
		}

		/**
		 * Whether others may hold the file at the same time.
		 * @return whether the lock is that of one byte
		 */
		boolean isShared() {
			return this.lock.size() == 1;
		}

	}

}
