package io.mutex.redis;

/**
 * How the Redis provider keeps its data.
 *
 * @param keyPrefix what every key and channel in Redis begins with; not blank, without
 * braces, white space and control characters
 */
public record RedisSettings(String keyPrefix) {

	/**
	 * The prefix unless another is chosen.
	 */
	public static final String DEFAULT_KEY_PREFIX = "mutex";

	public RedisSettings {
		if (keyPrefix.isBlank() || keyPrefix.chars().anyMatch(RedisSettings::isUnfit)) {
			throw new IllegalArgumentException("the key prefix for Redis (mutex.redis.key-prefix) must not be blank"
					+ " or hold braces, white space or control characters, but was '" + keyPrefix + "'");
		}
	}

	/**
	 * The default settings.
	 * @return {@value #DEFAULT_KEY_PREFIX}
	 */
	public static RedisSettings defaults() {
		return new RedisSettings(DEFAULT_KEY_PREFIX);
	}

	private static boolean isUnfit(int character) {
		return character == '{' || character == '}' || Character.isWhitespace(character)
				|| Character.isISOControl(character);
	}

}
