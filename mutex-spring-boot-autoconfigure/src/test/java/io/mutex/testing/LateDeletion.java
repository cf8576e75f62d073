package io.mutex.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

import org.springframework.util.FileSystemUtils;

/**
 * Makes the directories of tests, and deletes them when the tests have ended: databases
 * write to theirs for a while after their last connection was closed, and a directory
 * that is written to cannot be deleted.
 */
public final class LateDeletion implements TempDirFactory {

	private @Nullable Path directory;

	@Override
	public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
		Path created = Files.createTempDirectory("mutex-test");
		this.directory = created;
		return created;
	}

	@Override
	public void close() {
		Path used = this.directory;
		if (used != null && !isDeleted(used)) {
			Runtime.getRuntime().addShutdownHook(new Thread(() -> isDeleted(used)));
		}
	}

	// what is left in the end is in the directory for temporary files
	private static boolean isDeleted(Path directory) {
		try {
			FileSystemUtils.deleteRecursively(directory);
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
