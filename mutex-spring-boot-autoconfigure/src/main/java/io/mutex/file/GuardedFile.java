package io.mutex.file;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/**
 * A file that processes share, and what stands beside it: an empty one that is locked and
 * never deleted, and one with the grant that may write. To be read and written inside a
 * {@link FileSection}.
 *
 * @param path the file itself, no link
 * @param directory its directory
 */
record GuardedFile(Path path, Path directory) {

	private static final int MAX_LINKS = 40;

	/**
	 * The file that a path leads to, so that all links to it share its lock.
	 * @param path the path of the file, which need not exist
	 * @return the file
	 * @throws IOException if its directory does not exist, or it is not a file
	 */
	static GuardedFile of(Path path) throws IOException {
		Path target = path.toAbsolutePath();
		for (int links = 0; Files.isSymbolicLink(target); links++) {
			if (links == MAX_LINKS) {
				throw new FileSystemException(path.toString(), null, "too many symbolic links");
			}
			target = target.resolveSibling(Files.readSymbolicLink(target));
		}
		Path parent = target.getParent();
		if (parent == null || target.getFileName() == null || Files.isDirectory(target)) {
			throw new FileSystemException(path.toString(), null, "it is a directory");
		}
		if (!Files.isDirectory(parent)) {
			throw new NotDirectoryException(parent.toString());
		}
		Path directory = parent.toRealPath();
		return new GuardedFile(directory.resolve(target.getFileName()), directory);
	}

	Path lock() {
		return beside(".lock");
	}

	Path fence() {
		return beside(".fence");
	}

	private Path temporary() {
		return beside(".mutex-tmp");
	}

	private Path beside(String suffix) {
		return this.directory.resolve(this.path.getFileName() + suffix);
	}

	byte[] read() throws IOException {
		if (FileIdentity.of(this.path) == null) {
			return new byte[0];
		}
		try (FileInputStream in = new FileInputStream(this.path.toFile())) {
			return in.readAllBytes();
		}
	}

	void replace(Durability durability, byte[] content) throws IOException {
		if (FileIdentity.of(this.path) != null) {
			if (!Files.isWritable(this.path)) {
				throw new AccessDeniedException(this.path.toString(), null, "it may not be written");
			}
			copyPermissions();
		}
		durability.replace(this.directory, temporary(), this.path, content);
	}

	void writeFence(Durability durability, FileFence fence) throws IOException {
		durability.replace(this.directory, temporary(), fence(), fence.seal());
	}

	// before the content: it must never lie there for more readers than before
	private void copyPermissions() throws IOException {
		PosixFileAttributeView view = Files.getFileAttributeView(this.path, PosixFileAttributeView.class);
		if (view != null) {
			Set<PosixFilePermission> permissions = view.readAttributes().permissions();
			Files.deleteIfExists(temporary());
			Files.createFile(temporary());
			Files.setPosixFilePermissions(temporary(), permissions);
		}
	}

	/**
	 * Writes behind the end of the file. If that fails, the file is as before.
	 * @param durability what flushes it
	 * @param content what to write
	 * @param line whether it has to begin on a line of its own, also after a process that
	 * died while it wrote
	 * @throws IOException if it may not be on the disk
	 */
	void append(Durability durability, byte[] content, boolean line) throws IOException {
		boolean created = FileIdentity.of(this.path) == null;
		long length = created ? 0 : Files.size(this.path);
		try (FileOutputStream out = new FileOutputStream(this.path.toFile(), true)) {
			if (line && length > 0 && !endsWithLineBreak(length)) {
				out.write('\n');
			}
			out.write(content);
			durability.flush(out);
		}
		catch (IOException ex) {
			cut(length, ex);
			throw ex;
		}
		if (created) {
			durability.flushDirectory(this.directory);
		}
	}

	private boolean endsWithLineBreak(long length) throws IOException {
		try (RandomAccessFile file = new RandomAccessFile(this.path.toFile(), "r")) {
			file.seek(length - 1);
			return file.read() == '\n';
		}
	}

	private void cut(long length, IOException failure) {
		if (!Files.exists(this.path)) {
			return;
		}
		try (RandomAccessFile file = new RandomAccessFile(this.path.toFile(), "rw")) {
			file.setLength(length);
		}
		catch (IOException ex) {
			failure.addSuppressed(ex);
		}
	}

}
