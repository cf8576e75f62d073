package io.mutex.redis;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A script.
 *
 * @param text its text
 * @param sha the name by which a server knows it once it has seen it: the SHA-1 of the
 * text, in hexadecimal digits
 */
record ScriptText(String text, String sha) {

	ScriptText(String text) {
		this(text, sha1(text));
	}

	byte[] bytes() {
		return RedisKeys.bytes(this.text);
	}

	/**
	 * Joins the texts of resources.
	 * @param resources their names without the ending
	 * @return the text
	 */
	static String load(String... resources) {
		ByteArrayOutputStream text = new ByteArrayOutputStream();
		for (String resource : resources) {
			try (InputStream input = ScriptText.class.getResourceAsStream(resource + ".lua")) {
				if (input == null) {
					throw new IllegalStateException("the script '" + resource + ".lua' is missing beside "
							+ ScriptText.class.getName() + "; is the jar complete?");
				}
				input.transferTo(text);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return text.toString(StandardCharsets.UTF_8);
	}

	static String sha1(String text) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(RedisKeys.bytes(text)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
