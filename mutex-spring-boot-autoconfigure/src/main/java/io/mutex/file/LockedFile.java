package io.mutex.file;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

import io.mutex.Lease;

/**
 * Reads and writes a file that several processes of one host share, so that none loses
 * what another has written.
 * <p>
 * Beside a file {@code ledger.txt} stand {@code ledger.txt.lock}, which is locked by the
 * operating system, is empty and must never be deleted or opened by other code, and, once
 * it is written under a lease, {@code ledger.txt.fence} with the latest grant that it has
 * accepted. Paths that lead to the file over symbolic links share them; a second hard
 * link is another file. All processes have to use this class, and all of them need the
 * right to write the lock file, also for reading. The file system has to be a local one:
 * locks of network file systems can be granted twice.
 * <p>
 * A file is replaced as a whole: its new content is flushed to the disk, takes the place
 * of the old one in one step and keeps its permissions, but not its owner. So a reader
 * that knows nothing of this class sees one or the other, unless the file is appended to.
 * A file that does not exist is read as an empty one; its directory has to exist.
 * <p>
 * Under a lease, a file accepts a grant that is later than the one it has accepted last,
 * or is the same; it belongs to the key of the first grant, and refuses writes without a
 * lease from then on. The check and the write are one step for all processes, so that a
 * worker that was stopped for longer than its lease cannot overwrite its successor's
 * work. What a later write depends on is to be read with the lease, too.
 * <p>
 * All methods wait at most {@link #WAIT} for others. They throw a
 * {@link io.mutex.MutexException} if the file or its lock cannot be read or written, and
 * an {@link IllegalStateException} if they are called for the file by the function that
 * updates it. An interrupt ends none of them and is kept.
 */
public final class LockedFile {

	/**
	 * How long a call waits while others use the file: 10 s.
	 */
	public static final Duration WAIT = Duration.ofSeconds(10);

	private static final LockedFiles FILES = new LockedFiles(new Durability(), WAIT);

	private LockedFile() {
	}

	/**
	 * Reads the file. It is not locked any more when this returns.
	 * @param path the file
	 * @return its content
	 */
	public static byte[] read(Path path) {
		return FILES.read(path);
	}

	/**
	 * Registers the grant of a lease, so that the file refuses all earlier ones from then
	 * on, and then reads it: for a later write that depends on the content.
	 * @param path the file
	 * @param lease the lease
	 * @return its content
	 * @throws io.mutex.StaleFencingTokenException if the file has accepted a later grant
	 * @throws io.mutex.LeaseLostException if the lease is lost
	 */
	public static byte[] read(Path path, Lease lease) {
		return FILES.read(path, lease);
	}

	/**
	 * Replaces the content by what a function makes of it, while nobody else reads or
	 * writes the file.
	 * @param path the file
	 * @param function makes the new content of the old one; if it throws, the file stays
	 * as it is
	 * @return the new content
	 */
	public static byte[] update(Path path, UnaryOperator<byte[]> function) {
		return FILES.update(path, null, function);
	}

	/**
	 * Replaces the content by what a function makes of it, if the file accepts the grant
	 * of a lease.
	 * @param path the file
	 * @param lease the lease
	 * @param function makes the new content of the old one; if it throws, the file stays
	 * as it is
	 * @return the new content
	 * @throws io.mutex.StaleFencingTokenException if the file has accepted a later grant
	 * @throws io.mutex.LeaseLostException if the lease is lost
	 */
	public static byte[] update(Path path, Lease lease, UnaryOperator<byte[]> function) {
		return FILES.update(path, lease, function);
	}

	/**
	 * Replaces the content, if the file accepts the grant of a lease.
	 * @param path the file
	 * @param content the new content
	 * @param lease the lease
	 * @throws io.mutex.StaleFencingTokenException if the file has accepted a later grant
	 * @throws io.mutex.LeaseLostException if the lease is lost
	 */
	public static void replace(Path path, byte[] content, Lease lease) {
		FILES.update(path, lease, (old) -> content);
	}

	/**
	 * Writes a line in UTF-8 behind the last one. What a process leaves behind that dies
	 * while it writes stays a line of its own.
	 * @param path the file
	 * @param line the line, without a line break
	 */
	public static void append(Path path, String line) {
		if (line.indexOf('\n') >= 0 || line.indexOf('\r') >= 0) {
			throw new IllegalArgumentException("a line must not contain a line break");
		}
		FILES.append(path, (line + "\n").getBytes(StandardCharsets.UTF_8), true);
	}

	/**
	 * Writes bytes behind the end of the file. If that fails, the file is as before; a
	 * process that dies while it writes leaves the first of them.
	 * @param path the file
	 * @param content the bytes
	 */
	public static void append(Path path, byte[] content) {
		FILES.append(path, content, false);
	}

}
