package io.mutex.file;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import io.mutex.FencingToken;
import org.jspecify.annotations.Nullable;

/**
 * The grant that a file has accepted last, as it is stored beside the file.
 *
 * @param key the key that the file belongs to
 * @param token the token of the grant
 * @param nonce the nonce of the grant
 */
record FileFence(String key, FencingToken token, String nonce) {

	private static final String HEADER = "mutex-fence 1";

	/**
	 * Reads the grant beside a file.
	 * @param path where it is stored
	 * @return the grant, or {@code null} if none was ever registered
	 * @throws IOException if it cannot be read, or is damaged
	 */
	static @Nullable FileFence read(Path path) throws IOException {
		if (FileIdentity.of(path) == null) {
			return null;
		}
		byte[] content;
		try (FileInputStream in = new FileInputStream(path.toFile())) {
			content = in.readAllBytes();
		}
		try {
			return parse(content);
		}
		catch (IOException | IllegalArgumentException ex) {
			throw new IOException("the file " + path + " is damaged: " + ex.getMessage()
					+ ". Restore it from a backup; or, once no process holds the key, delete it, which lets every "
					+ "token in again", ex);
		}
	}

	private static FileFence parse(byte[] content) throws IOException {
		List<String> fields = SealedText.open(HEADER, content).get(0);
		if (fields.size() < 3) {
			throw new IOException("it names no grant");
		}
		return new FileFence(fields.get(0), new FencingToken(Long.parseLong(fields.get(1))), fields.get(2));
	}

	byte[] seal() {
		return new SealedText(HEADER).line(this.key, this.token.toString(), this.nonce).seal();
	}

}
