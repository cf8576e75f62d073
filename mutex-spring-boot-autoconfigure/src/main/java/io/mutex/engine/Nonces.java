package io.mutex.engine;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.function.Supplier;

/**
 * Sources of nonces: 128 random bits as 32 hexadecimal digits.
 */
final class Nonces {

	private Nonces() {
	}

	static Supplier<String> secure() {
		SecureRandom random = new SecureRandom();
		return () -> {
			byte[] bytes = new byte[16];
			random.nextBytes(bytes);
			return HexFormat.of().formatHex(bytes);
		};
	}

}
