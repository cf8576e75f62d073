package io.mutex.file;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What makes a file replace another one for good: flush, rename, flush of the directory.
 */
class Durability {

	private static final int MOVE_ATTEMPTS = 10;

	private static final boolean WINDOWS = System.getProperty("os.name", "").startsWith("Windows");

	/**
	 * Replaces a file atomically. The content is on the disk when this returns; if it
	 * throws, readers see either the old or the new content.
	 * @param directory the directory of the other two
	 * @param temporary a path in it that is overwritten
	 * @param target the file to replace
	 * @param content the new content
	 * @throws IOException if the content may not be on the disk
	 */
	final void replace(Path directory, Path temporary, Path target, byte[] content) throws IOException {
		Uninterrupted.run(() -> {
			try {
				write(temporary, content);
				moveWithRetry(temporary, target);
			}
			catch (IOException ex) {
				deleteQuietly(temporary, ex);
				throw ex;
			}
			flushDirectory(directory);
		});
	}

	private void write(Path path, byte[] content) throws IOException {
		try (FileOutputStream out = new FileOutputStream(path.toFile())) {
			out.write(content);
			flush(out);
		}
	}

	void flush(FileOutputStream out) throws IOException {
		out.getFD().sync();
	}

	void move(Path from, Path to) throws IOException {
		Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
	}

	void flushDirectory(Path directory) throws IOException {
		if (WINDOWS) {
			return; // a directory cannot be opened there
		}
		try {
			force(directory);
		}
		catch (ClosedByInterruptException ex) {
			// interrupts may come faster than a disk can flush
			forceOnOwnThread(directory);
		}
	}

	void force(Path directory) throws IOException {
		try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
			channel.force(true);
		}
	}

	private void forceOnOwnThread(Path directory) throws IOException {
		FutureTask<Boolean> task = new FutureTask<>(() -> {
			force(directory);
			return true;
		});
		Thread thread = new Thread(task, "mutex-flush");
		thread.setDaemon(true);
		thread.start();
		boolean interrupted = false;
		try {
			while (true) {
				try {
					task.get();
					return;
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
				catch (ExecutionException ex) {
					throw new IOException("cannot flush the directory " + directory + ": " + ex.getCause(),
							ex.getCause());
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	// where a reader or a virus scanner has the target open, the rename is denied for a
	// moment
	private void moveWithRetry(Path from, Path to) throws IOException {
		for (int attempt = 1;; attempt++) {
			try {
				move(from, to);
				return;
			}
			catch (AccessDeniedException ex) {
				if (attempt == MOVE_ATTEMPTS) {
					throw ex;
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
		}
	}

	private static void deleteQuietly(Path path, IOException failure) {
		try {
			Files.deleteIfExists(path);
		}
		catch (IOException ex) {
			failure.addSuppressed(ex);
		}
	}

}
