package io.mutex.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Tells file systems whose locks hold between the processes of one host from those that
 * are shared over a network, where locks depend on mount options, get lost or block.
 */
final class NetworkFileSystems {

	private static final Pattern NETWORK = Pattern.compile("(fuse\\.?)?(nfs|cifs|smb|sshfs|9p|ceph|gluster|lustre|afs|"
			+ "ncp|ocfs2|gfs2|gpfs|beegfs|moosefs|davfs|webdav|s3fs|gcsfuse|blobfuse|rclone|juicefs|orangefs|pvfs|coda).*");

	private NetworkFileSystems() {
	}

	static boolean contains(String type) {
		return NETWORK.matcher(type.toLowerCase(Locale.ROOT)).matches();
	}

	static String typeOf(Path path) throws IOException {
		return Files.getFileStore(path).type();
	}

	/**
	 * The question for the type of the file system that holds a path.
	 */
	@FunctionalInterface
	interface TypeOf {

		String path(Path path) throws IOException;

	}

}
