package io.mutex.file;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.StoreSetupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory that the processes share: created for its owner alone, and refused where
 * its locks would protect nothing.
 */
final class LockDirectory {

	private static final Logger logger = LoggerFactory.getLogger(FileLockProvider.class);

	private static final String REMEDY = "Set mutex.file.directory to a directory that this process "
			+ "may create and write.";

	private final Path root;

	private final Path namespaceDirectory;

	private final boolean allowNetwork;

	private final NetworkFileSystems.TypeOf typeOf;

	private final AtomicBoolean announced = new AtomicBoolean();

	private volatile boolean ready;

	LockDirectory(Path directory, String namespace, boolean allowNetwork, NetworkFileSystems.TypeOf typeOf) {
		this.root = directory.toAbsolutePath().normalize();
		this.namespaceDirectory = KeyFiles.namespaceDirectory(this.root, namespace);
		this.allowNetwork = allowNetwork;
		this.typeOf = typeOf;
	}

	/**
	 * The directory of the namespace.
	 * @return a path below the shared directory
	 */
	Path path() {
		return this.namespaceDirectory;
	}

	/**
	 * Makes the directory usable, the first time and after somebody removed it.
	 * @throws StoreSetupException if it cannot be used
	 */
	void prepare() {
		if (!this.ready || !Files.isDirectory(this.namespaceDirectory)) {
			check();
		}
	}

	/**
	 * Creates the directory if it is missing and proves that it is fit for locks.
	 * @throws StoreSetupException if not, with what to do
	 */
	void check() {
		this.ready = false;
		try {
			create(this.namespaceDirectory);
			String type = this.typeOf.path(this.namespaceDirectory);
			if (NetworkFileSystems.contains(type) && !this.allowNetwork) {
				throw refusal(
						"lies on the network file system '" + type + "', whose locks can be lost or granted twice",
						"Set mutex.file.directory to a local directory, use another provider between hosts, "
								+ "or accept the risk with mutex.file.allow-network=true.",
						null);
			}
			if (!Files.isWritable(this.namespaceDirectory) || !Files.isExecutable(this.namespaceDirectory)) {
				throw refusal("cannot be written by this process", REMEDY, null);
			}
			this.ready = true;
			if (this.announced.compareAndSet(false, true)) {
				announce(type);
			}
		}
		catch (FileAlreadyExistsException ex) {
			throw refusal("cannot be made: " + ex.getFile() + " is not a directory", REMEDY, ex);
		}
		catch (IOException ex) {
			throw refusal("cannot be used (" + ex + ")", REMEDY, ex);
		}
	}

	private void announce(String type) {
		logger.info("Locks are files in {}: only processes that share this directory on this host are covered; "
				+ "provider=file", this.namespaceDirectory);
		if (NetworkFileSystems.contains(type)) {
			logger.warn("{} lies on the network file system '{}', which mutex.file.allow-network accepts: its locks "
					+ "can be lost or granted twice; provider=file", this.root, type);
		}
		if (type.startsWith("overlay") || type.startsWith("aufs")) {
			logger.warn("{} is inside a container: other containers are not covered, and runs are forgotten with it. "
					+ "Set mutex.file.directory to a shared volume; provider=file", this.root);
		}
		if (isTemporary(type)) {
			logger.warn(
					"{} is a directory for temporary files: a cleaner that removes lock files frees their locks, "
							+ "and runs can be forgotten. Set mutex.file.directory to a lasting one; provider=file",
					this.root);
		}
	}

	private boolean isTemporary(String type) {
		return type.equals("tmpfs") || this.root.startsWith("/tmp") || this.root.startsWith("/var/tmp")
				|| this.root.startsWith(Path.of(System.getProperty("java.io.tmpdir", "/tmp")).toAbsolutePath());
	}

	private static void create(Path directory) throws IOException {
		boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
		FileAttribute<?>[] attributes = posix
				? new FileAttribute<?>[] {
						PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")) }
				: new FileAttribute<?>[0];
		Files.createDirectories(directory, attributes);
	}

	private StoreSetupException refusal(String problem, String remedy, @Nullable IOException cause) {
		return new StoreSetupException("The lock directory " + this.root + " " + problem + ".", remedy, cause);
	}

}
