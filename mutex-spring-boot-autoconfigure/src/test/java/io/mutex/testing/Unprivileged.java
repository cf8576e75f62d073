package io.mutex.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What to put before a command so that it doesn't run as root.
 */
final class Unprivileged {

	private static final int NOBODY = 65534;

	private Unprivileged() {
	}

	/**
	 * Tells the prefix, empty for everybody but root.
	 * @param directories what the command must be able to write
	 * @return the prefix of the command
	 * @throws IOException if that fails
	 */
	static List<String> prefix(Path... directories) throws IOException {
		if (!"root".equals(System.getProperty("user.name"))) {
			return List.of();
		}
		if (Namespaces.AVAILABLE) {
			return List.of("unshare", "--user");
		}
		for (Path directory : directories) {
			Files.setAttribute(directory, "unix:uid", NOBODY);
		}
		return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
	}

	/**
	 * Whether a process can have user namespaces of its own.
	 */
	private static final class Namespaces {

		private static final boolean AVAILABLE = isAvailable();

		private static boolean isAvailable() {
			try {
				return new ProcessBuilder("unshare", "--user", "true").start().waitFor() == 0;
			}
			catch (IOException ex) {
				return false;
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}

	}

}
