package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds a transaction of the application that locks a row of the locks: how long it
 * waits for that row, and how long it may stay idle afterwards, where the database has
 * such limits.
 * <p>
 * On PostgreSQL they are a part of the statement and end with the transaction. On MariaDB
 * and MySQL they hold for the session and have to be taken back.
 */
final class TransactionLimits {

	/**
	 * Ends the transaction on PostgreSQL if it stays idle for as many milliseconds as the
	 * parameter says, or for less if it was told so before; 0 changes nothing.
	 */
	static final String POSTGRES_IDLE = "set_config('idle_in_transaction_session_timeout',"
			+ " coalesce(least(nullif(?::bigint, 0), nullif((extract(epoch from"
			+ " current_setting('idle_in_transaction_session_timeout')::interval) * 1000)::bigint, 0)), 0)::text, true)";

	// a transaction that locks several rows has been limited before
	private static final String WAIT = "SET @mutex_wait = COALESCE(@mutex_wait, @@SESSION.innodb_lock_wait_timeout),"
			+ " SESSION innodb_lock_wait_timeout = @@seconds@@";

	private static final String IDLE = ", @mutex_idle = COALESCE(@mutex_idle,"
			+ " @@SESSION.idle_write_transaction_timeout), SESSION idle_write_transaction_timeout ="
			+ " LEAST(@@idle@@, IF(@@SESSION.idle_write_transaction_timeout = 0, @@idle@@,"
			+ " @@SESSION.idle_write_transaction_timeout))";

	// a user variable is no integer for the parser
	private static final String RESTORE = "SET SESSION innodb_lock_wait_timeout = CAST(COALESCE(@mutex_wait,"
			+ " @@SESSION.innodb_lock_wait_timeout) AS UNSIGNED), @mutex_wait = NULL";

	private static final String RESTORE_IDLE = ", SESSION idle_write_transaction_timeout ="
			+ " CAST(COALESCE(@mutex_idle, @@SESSION.idle_write_transaction_timeout) AS UNSIGNED), @mutex_idle = NULL";

	private static final Logger logger = LoggerFactory.getLogger(TransactionLimits.class);

	private final JdbcPlatform platform;

	private final Duration lockTimeout;

	TransactionLimits(JdbcPlatform platform, JdbcSettings settings) {
		this.platform = platform;
		this.lockTimeout = settings.lockTimeout();
	}

	// for POSTGRES_IDLE
	static long idleMillis(@Nullable Duration remaining) {
		return (remaining != null) ? roundedUp(remaining, 1_000_000) : 0;
	}

	// what the session has to be told first, or null
	@Nullable String text(@Nullable Duration remaining) {
		if (!holdForTheSession()) {
			return null;
		}
		String wait = WAIT.replace("@@seconds@@", Long.toString(roundedUp(this.lockTimeout, 1_000_000_000)));
		if (this.platform != JdbcPlatform.MARIADB || remaining == null) {
			return wait;
		}
		return wait + IDLE.replace("@@idle@@", Long.toString(roundedUp(remaining, 1_000_000_000)));
	}

	// tells the session
	void apply(Connection connection, @Nullable Duration remaining) throws SQLException {
		String text = text(remaining);
		if (text != null) {
			execute(connection, text);
		}
	}

	// takes back what the session was told
	void restore(Connection connection) {
		if (!holdForTheSession()) {
			return;
		}
		try {
			execute(connection, RESTORE + ((this.platform == JdbcPlatform.MARIADB) ? RESTORE_IDLE : ""));
		}
		catch (SQLException ex) {
			logger.debug("A connection keeps the limits of its transaction and is given up", ex);
			giveUp(connection);
		}
	}

	private boolean holdForTheSession() {
		return this.platform == JdbcPlatform.MARIADB || this.platform == JdbcPlatform.MYSQL;
	}

	// a limit of 0 would be none
	private static long roundedUp(Duration time, long nanosPerUnit) {
		return Math.max(1, (time.toNanos() + nanosPerUnit - 1) / nanosPerUnit);
	}

	private static void giveUp(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("The connection was closed before", ex);
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
