package io.mutex.autoconfigure;

/**
 * When the tables are created at start-up: the values of
 * {@code mutex.jdbc.initialize-schema}.
 */
public enum SchemaInitialization {

	/**
	 * On every database.
	 */
	ALWAYS,

	/**
	 * On an embedded database only.
	 */
	EMBEDDED,

	/**
	 * Never: a migration tool creates them.
	 */
	NEVER

}
