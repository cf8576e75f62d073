package io.mutex.jdbc;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * How the JDBC provider reaches its tables.
 *
 * @param tablePrefix what the table names begin with: a letter or an underscore, then
 * letters, digits, underscores or dollar signs, at most {@value #MAX_NAME} characters
 * @param schema the schema of the tables, of the same form, or {@code null} for the
 * connection's own
 * @param platform the database, or {@code null} to ask the driver at the first use
 * @param poolSize how many connections of its own the provider may open, one for each
 * call that runs at the same time, and one more while it renews leases; with 0 it borrows
 * those of the application
 * @param lockTimeout how long a statement waits for a row that another transaction has
 * locked, 1 ms or more
 * @param queryTimeout how long any answer of the database is waited for, 1 ms or more;
 * must be below the shortest lease
 */
public record JdbcSettings(String tablePrefix, @Nullable String schema, @Nullable JdbcPlatform platform, int poolSize,
		Duration lockTimeout, Duration queryTimeout) {

	/**
	 * The default table prefix.
	 */
	public static final String DEFAULT_TABLE_PREFIX = "mutex_";

	/**
	 * The default size of the pool.
	 */
	public static final int DEFAULT_POOL_SIZE = 2;

	private static final int MAX_NAME = 40;

	private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]{0," + (MAX_NAME - 1) + "}");

	public JdbcSettings {
		requireName("mutex.jdbc.table-prefix", tablePrefix);
		if (schema != null) {
			requireName("mutex.jdbc.schema", schema);
		}
		if (poolSize < 0) {
			throw new IllegalArgumentException("mutex.jdbc.pool-size must not be below 0, but was " + poolSize);
		}
		requireTime("mutex.jdbc.lock-timeout", lockTimeout);
		requireTime("mutex.jdbc.query-timeout", queryTimeout);
	}

	/**
	 * The settings that hold where nothing is configured.
	 * @return prefix {@value #DEFAULT_TABLE_PREFIX}, at most {@value #DEFAULT_POOL_SIZE}
	 * own connections, 2 s for a row lock and 5 s for an answer
	 */
	public static JdbcSettings defaults() {
		return new JdbcSettings(DEFAULT_TABLE_PREFIX, null, null, DEFAULT_POOL_SIZE, Duration.ofSeconds(2),
				Duration.ofSeconds(5));
	}

	/**
	 * The same settings with another table prefix.
	 * @param tablePrefix the prefix
	 * @return new settings
	 */
	public JdbcSettings withTablePrefix(String tablePrefix) {
		return new JdbcSettings(tablePrefix, this.schema, this.platform, this.poolSize, this.lockTimeout,
				this.queryTimeout);
	}

	/**
	 * The same settings with another schema.
	 * @param schema the schema, or {@code null} for the connection's own
	 * @return new settings
	 */
	public JdbcSettings withSchema(@Nullable String schema) {
		return new JdbcSettings(this.tablePrefix, schema, this.platform, this.poolSize, this.lockTimeout,
				this.queryTimeout);
	}

	/**
	 * The same settings with another platform.
	 * @param platform the database, or {@code null} to ask the driver
	 * @return new settings
	 */
	public JdbcSettings withPlatform(@Nullable JdbcPlatform platform) {
		return new JdbcSettings(this.tablePrefix, this.schema, platform, this.poolSize, this.lockTimeout,
				this.queryTimeout);
	}

	/**
	 * The same settings with another number of own connections.
	 * @param poolSize the number, 0 for none
	 * @return new settings
	 */
	public JdbcSettings withPoolSize(int poolSize) {
		return new JdbcSettings(this.tablePrefix, this.schema, this.platform, poolSize, this.lockTimeout,
				this.queryTimeout);
	}

	/**
	 * The same settings with other time limits.
	 * @param lockTimeout how long a statement waits for a locked row
	 * @param queryTimeout how long an answer is waited for
	 * @return new settings
	 */
	public JdbcSettings withTimeouts(Duration lockTimeout, Duration queryTimeout) {
		return new JdbcSettings(this.tablePrefix, this.schema, this.platform, this.poolSize, lockTimeout, queryTimeout);
	}

	/**
	 * The name of a table as statements use it.
	 * @param name the name without prefix: {@code lock}, {@code run} or {@code fence}
	 * @return the name with prefix and, if there is one, schema
	 */
	public String table(String name) {
		return ((this.schema != null) ? this.schema + "." : "") + this.tablePrefix + name;
	}

	private static void requireName(String property, String name) {
		if (!NAME.matcher(name).matches()) {
			throw new IllegalArgumentException(property + " must begin with a letter or an underscore, hold only"
					+ " letters, digits, '_' and '$', and have at most " + MAX_NAME + " characters, but was '" + name
					+ "'" + (name.contains(".") ? "; set mutex.jdbc.schema for the part before the dot" : ""));
		}
	}

	private static void requireTime(String property, Duration time) {
		if (time.toMillis() < 1 || time.toMillis() > Integer.MAX_VALUE) {
			throw new IllegalArgumentException(property + " must be at least 1 ms, but was " + time);
		}
	}

}
