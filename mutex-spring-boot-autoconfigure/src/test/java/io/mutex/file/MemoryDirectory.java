package io.mutex.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Temporary directories in memory where the system has that, for tests that write a lot:
 * the locks are the same, and flushing costs nothing.
 */
final class MemoryDirectory implements TempDirFactory {

	@Override
	public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
		return create();
	}

	static Path create() throws IOException {
		Path memory = Path.of("/dev/shm");
		return Files.isWritable(memory) ? Files.createTempDirectory(memory, "mutex")
				: Files.createTempDirectory("mutex");
	}

}
