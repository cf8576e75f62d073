package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

import io.mutex.testing.JavaProcess;

/**
 * What can happen to the process of a worker.
 */
final class WorkerFaults {

	private static final long LEASE = Provider.LEASE.toMillis();

	private WorkerFaults() {
	}

	static void kill(Field field) {
		field.kill(field.holder());
	}

	static void stop(Field field) {
		int index = field.holder();
		JavaProcess worker = field.workers.get(index);
		field.fault("P2", field.name(index), worker::pause, 2 * LEASE, worker::resume);
	}

	static void each(Field field) {
		field.kill(field.holder());
		field.terminate(field.holder());
		field.hit(1);
		stop(field);
	}

	// only a stopped holder does not notice it within a second
	static void removeLockFiles(Field field) {
		int index = field.holder();
		JavaProcess worker = field.workers.get(index);
		field.fault("F8", () -> {
			worker.pause();
			lockFiles(field.directory.resolve("locks")).forEach(WorkerFaults::delete);
		}, 2 * LEASE, worker::resume);
	}

	// the others write beside
	private static List<Path> lockFiles(Path directory) {
		List<Path> found = new ArrayList<>();
		try {
			Files.walkFileTree(directory, new SimpleFileVisitor<>() {

				@Override
				public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
					if (file.toString().endsWith(".lock")) {
						found.add(file);
					}
					return FileVisitResult.CONTINUE;
				}

				@Override
				public FileVisitResult visitFileFailed(Path file, IOException ex) {
					return FileVisitResult.CONTINUE;
				}

			});
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return found;
	}

	private static void delete(Path file) {
		try {
			Files.delete(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	// only the first worker has so much to collect
	static void collectGarbage(Field field) {
		if (field.holder(List.of(field.name(0)), Provider.LEASE).isEmpty()) {
			return;
		}
		long[] pause = new long[1];
		field.fault("P5", field.name(0), () -> pause[0] = field.collectGarbage(0), 0, () -> {
		});
		field.hit((pause[0] >= LEASE) ? 1 : 0);
	}

}
