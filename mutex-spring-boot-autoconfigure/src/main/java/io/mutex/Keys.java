package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * The one rule for keys, the same for every provider.
 */
public final class Keys {

	/**
	 * The longest key, in characters.
	 */
	public static final int MAX_LENGTH = 200;

	private Keys() {
	}

	/**
	 * Returns the key unchanged if it is valid. Keys are compared character by character:
	 * {@code Job} and {@code job} are two keys, and so are the composed and the
	 * decomposed spelling of an accent.
	 * @param key the evaluated key
	 * @return the same key
	 * @throws IllegalArgumentException if the key is null, blank, longer than
	 * {@value #MAX_LENGTH} characters, begins or ends with white space, or holds a
	 * control character or an unpaired surrogate
	 */
	public static String requireValid(@Nullable String key) {
		String fault = fault(key);
		if (fault != null || key == null) {
			throw new IllegalArgumentException("a lock key must not be " + fault
					+ ((key != null && !key.isBlank()) ? ": '" + printable(key) + "'" : ""));
		}
		return key;
	}

	private static String printable(String key) {
		String cut = (key.length() > MAX_LENGTH) ? key.substring(0, MAX_LENGTH) + "…" : key;
		return cut.replaceAll("[\\p{Cntrl}\\p{Cs}]", "?");
	}

	private static @Nullable String fault(@Nullable String key) {
		if (key == null) {
			return "null";
		}
		if (key.isBlank()) {
			return "blank";
		}
		if (key.length() > MAX_LENGTH) {
			return "longer than " + MAX_LENGTH + " characters (it has " + key.length() + ")";
		}
		if (!key.strip().equals(key)) {
			return "padded with white space";
		}
		int codePoint;
		for (int i = 0; i < key.length(); i += Character.charCount(codePoint)) {
			codePoint = key.codePointAt(i);
			if (Character.isISOControl(codePoint)) {
				return "given a control character";
			}
			if (Character.getType(codePoint) == Character.SURROGATE) {
				return "given half of a surrogate pair";
			}
		}
		return null;
	}

}
