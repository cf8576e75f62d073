package io.mutex.autoconfigure;

import java.util.Locale;

/**
 * Where locks can live: the values of {@code mutex.provider}.
 */
public enum MutexProviderType {

	/**
	 * Files of this host.
	 */
	FILE,

	/**
	 * A JDBC database.
	 */
	JDBC,

	/**
	 * Redis or Valkey.
	 */
	REDIS,

	/**
	 * The memory of this process, for tests.
	 */
	MEMORY;

	/**
	 * The value as it is written in configuration.
	 * @return the name in lower case
	 */
	public String value() {
		return name().toLowerCase(Locale.ROOT);
	}

}
