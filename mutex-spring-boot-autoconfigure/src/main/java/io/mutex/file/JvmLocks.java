package io.mutex.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
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

	// identity -> channel, lock, nonce, token, grant id; strong references, or the
	// collector would
	// free the lock
	private final Map<String, Object[]> held;

	private final Map<String, String> identities;

	// channels that cannot be closed without freeing a lock of somebody else in this JVM
	private final Map<String, FileChannel> parked;

	@SuppressWarnings("unchecked")
	private JvmLocks() {
		Object[] table = (Object[]) System.getProperties().computeIfAbsent(PROPERTY, (absent) -> newTable());
		this.gates = (ReentrantLock[]) table[0];
		this.held = (Map<String, Object[]>) table[1];
		this.identities = (Map<String, String>) table[2];
		this.parked = (Map<String, FileChannel>) table[3];
	}

	private static Object[] newTable() {
		ReentrantLock[] gates = new ReentrantLock[GATES];
		for (int i = 0; i < GATES; i++) {
			gates[i] = new ReentrantLock();
		}
		return new Object[] { gates, new ConcurrentHashMap<String, Object[]>(), new ConcurrentHashMap<String, String>(),
				new ConcurrentHashMap<String, FileChannel>() };
	}

	/**
	 * What a thread holds while it does anything with a file.
	 * @param identity the identity of the lock file
	 * @return the gate, shared by some files
	 */
	ReentrantLock gate(String identity) {
		return this.gates[Math.floorMod(identity.hashCode() * 31, GATES)];
	}

	@Nullable HeldFile held(String identity) {
		Object[] entry = this.held.get(identity);
		return (entry != null) ? new HeldFile(identity, (FileChannel) entry[0], (FileLock) entry[1], (String) entry[2],
				(Long) entry[3], (String) entry[4]) : null;
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
			HeldFile held = held(identity);
			return held != null && held.grantId().equals(grantId) && step.perform(held);
		}
		finally {
			gate.unlock();
		}
	}

	void hold(HeldFile file) {
		this.held.put(file.identity(),
				new Object[] { file.channel(), file.lock(), file.nonce(), file.token(), file.grantId() });
		this.identities.put(file.grantId(), file.identity());
	}

	/**
	 * Forgets a held file and frees its lock, if there still is one.
	 * @param file the file
	 */
	void drop(HeldFile file) {
		this.held.remove(file.identity());
		this.identities.remove(file.grantId());
		close(file.channel());
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
	 * A lock file that this JVM holds.
	 *
	 * @param identity the identity of the file
	 * @param channel the only channel of this JVM on it
	 * @param lock the lock of the whole file
	 * @param nonce the nonce of the grant
	 * @param token the token of the grant
	 * @param grantId what tells the grant from those of other namespaces and keys
	 */
	record HeldFile(String identity, FileChannel channel, FileLock lock, String nonce, long token, String grantId) {

	}

}
