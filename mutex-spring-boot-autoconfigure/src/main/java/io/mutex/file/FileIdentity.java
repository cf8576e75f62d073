package io.mutex.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Which file a path names at the moment: all links to one file have one identity, and a
 * file that took the place of another has its own. Found without opening the file.
 *
 * @param text the identity as text, equal for equal files
 * @param device the device number, or 0 where the system has none
 * @param inode the inode number, or 0 where the system has none
 */
record FileIdentity(String text, long device, long inode) {

	static @Nullable FileIdentity of(Path path) throws IOException {
		try {
			if (path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
				Map<String, Object> attributes = Files.readAttributes(path, "unix:dev,ino");
				if (attributes.get("dev") instanceof Long device && attributes.get("ino") instanceof Long inode) {
					return new FileIdentity(device + ":" + inode, device, inode);
				}
			}
			Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
			return new FileIdentity((key != null) ? key.toString() : path.toRealPath().toString(), 0, 0);
		}
		catch (NoSuchFileException ex) {
			return null;
		}
	}

	/**
	 * The device as {@code /proc/locks} prints it.
	 * @return major and minor number, for example {@code fe:00}
	 */
	String deviceText() {
		long major = ((this.device >> 8) & 0xfff) | ((this.device >> 32) & ~0xfffL);
		long minor = (this.device & 0xff) | ((this.device >> 12) & ~0xffL);
		return String.format("%02x:%02x", major, minor);
	}

}
