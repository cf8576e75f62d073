package io.mutex.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A digest of several parts, which differs as soon as one of them does.
 */
final class Digest {

	private final MessageDigest digest;

	Digest() {
		try {
			this.digest = MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	Digest add(String part) {
		return add(part.getBytes(StandardCharsets.UTF_8));
	}

	Digest add(byte[] part) {
		this.digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).flip());
		this.digest.update(part);
		return this;
	}

	/**
	 * The digest so far. Nothing can be added any more.
	 * @return 32 hexadecimal digits
	 */
	String text() {
		return HexFormat.of().formatHex(this.digest.digest(), 0, 16);
	}

}
