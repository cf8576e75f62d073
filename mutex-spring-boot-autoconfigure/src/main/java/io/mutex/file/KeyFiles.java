package io.mutex.file;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The files of one key: an empty one that is locked, one with the state, one with the
 * place of the next holder, and one for each run that has no place in the state.
 *
 * @param directory the directory of the namespace
 * @param base what the names of all files of the key begin with
 */
record KeyFiles(Path directory, String base) {

	static final String STATE_SUFFIX = ".state";

	static final String RUN_INFIX = ".run-";

	private static final int PREFIX_LENGTH = 40;

	static KeyFiles of(Path namespaceDirectory, String namespace, String key) {
		return new KeyFiles(namespaceDirectory, safePrefix(key) + "-" + digest(namespace + "\n" + key, 32));
	}

	static Path namespaceDirectory(Path directory, String namespace) {
		return directory.resolve(safePrefix(namespace) + "-" + digest(namespace, 12));
	}

	Path lock() {
		return this.directory.resolve(this.base + ".lock");
	}

	Path state() {
		return this.directory.resolve(this.base + STATE_SUFFIX);
	}

	Path temporary() {
		return this.directory.resolve(this.base + ".tmp");
	}

	Path next() {
		return this.directory.resolve(this.base + ".next");
	}

	Path run(String unit) {
		return this.directory.resolve(this.base + RUN_INFIX + digest(unit, 32));
	}

	/**
	 * What tells a grant from all others of the JVM, whatever path led to its files.
	 * @param nonce the nonce of the grant
	 * @return a name of the grant
	 */
	String grantId(String nonce) {
		return this.base + "/" + nonce;
	}

	private static String safePrefix(String text) {
		String safe = text.replaceAll("[^A-Za-z0-9_-]", "_");
		return safe.substring(0, Math.min(safe.length(), PREFIX_LENGTH));
	}

	// over UTF-16: unpaired surrogates differ there, in UTF-8 they do not
	private static String digest(String text, int length) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_16BE));
			return HexFormat.of().formatHex(hash).substring(0, length);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
