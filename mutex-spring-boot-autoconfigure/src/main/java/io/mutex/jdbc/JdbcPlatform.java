package io.mutex.jdbc;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import io.mutex.StoreSetupException;
import org.jspecify.annotations.Nullable;

/**
 * A database whose SQL is known, with what differs between them as data. In the texts
 * {@code @@lock@@}, {@code @@run@@}, {@code @@fence@@} and {@code @@now@@} stand for the
 * tables and the store's time, {@code @@columns@@} and {@code @@values@@} for a list of
 * columns and its parameters, and {@code @@millis@@} and {@code @@seconds@@} for the lock
 * time-out.
 */
public enum JdbcPlatform {

	// not DATEDIFF: it ignores the time zones of its arguments
	/** H2, embedded or as a server. */
	H2("CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)",
			"INSERT INTO @@lock@@ (@@columns@@) VALUES (@@values@@)",
			"MERGE INTO @@run@@ (@@columns@@) KEY (namespace, lock_key, unit) VALUES (@@values@@)",
			"FETCH FIRST ? ROWS ONLY", "SET LOCK_TIMEOUT @@millis@@", null),

	/** PostgreSQL 12 and later. */
	POSTGRESQL("(extract(epoch from clock_timestamp()) * 1000000)::bigint",
			"INSERT INTO @@lock@@ (@@columns@@) VALUES (@@values@@) ON CONFLICT DO NOTHING",
			"INSERT INTO @@run@@ (@@columns@@) VALUES (@@values@@) ON CONFLICT (namespace, lock_key, unit) DO UPDATE"
					+ " SET status = excluded.status, token = excluded.token, nonce = excluded.nonce,"
					+ " owner_info = excluded.owner_info, attempt = excluded.attempt, began_at = excluded.began_at,"
					+ " ended_at = excluded.ended_at, not_before = excluded.not_before, error = excluded.error,"
					+ " kept_until = excluded.kept_until",
			"LIMIT ?", null, "SELECT " + PostgresFastPath.DURABLE + ", " + PostgresFastPath.LOCK_TIMEOUT),

	/** MariaDB 10.6 and later, with its own driver. */
	MARIADB(MySqlTexts.NOW, MySqlTexts.INSERT_LOCK, MySqlTexts.UPSERT_RUN, "LIMIT ?", MySqlTexts.LOCK_TIMEOUT, null),

	/** MySQL 8.0 and later, or another server that MySQL's driver speaks to. */
	MYSQL(MySqlTexts.NOW, MySqlTexts.INSERT_LOCK, MySqlTexts.UPSERT_RUN, "LIMIT ?", MySqlTexts.LOCK_TIMEOUT, null);

	private final String now;

	private final String insertLock;

	private final String upsertRun;

	private final String limit;

	private final @Nullable String sessionSetup;

	private final @Nullable String transactionSetup;

	JdbcPlatform(String now, String insertLock, String upsertRun, String limit, @Nullable String sessionSetup,
			@Nullable String transactionSetup) {
		this.now = now;
		this.insertLock = insertLock;
		this.upsertRun = upsertRun;
		this.limit = limit;
		this.sessionSetup = sessionSetup;
		this.transactionSetup = transactionSetup;
	}

	/**
	 * The platform of a name, as in configuration and in the names of schema scripts.
	 * @param name the name in any case, for example {@code postgresql}
	 * @return the platform
	 * @throws StoreSetupException if there is none of that name
	 */
	public static JdbcPlatform of(String name) {
		for (JdbcPlatform platform : values()) {
			if (platform.id().equalsIgnoreCase(name.trim())) {
				return platform;
			}
		}
		throw new StoreSetupException("The jdbc provider does not know the database '" + name + "'.",
				"Set mutex.jdbc.platform to the one it is compatible with: "
						+ Arrays.stream(values()).map(JdbcPlatform::id).collect(Collectors.joining(", ")) + ".",
				null);
	}

	/**
	 * The name of the platform in configuration and in the names of schema scripts.
	 * @return the name in lower case
	 */
	public String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	String now() {
		return this.now;
	}

	String insertLock() {
		return this.insertLock;
	}

	String upsertRun() {
		return this.upsertRun;
	}

	String limit() {
		return this.limit;
	}

	// what an own connection executes once
	@Nullable String sessionSetup(Duration lockTimeout) {
		return (this.sessionSetup != null) ? withTimeout(this.sessionSetup, lockTimeout) : null;
	}

	// what a transaction that writes executes first; where there is one, every write
	// needs a
	// transaction
	@Nullable String transactionSetup(Duration lockTimeout) {
		return (this.transactionSetup != null) ? withTimeout(this.transactionSetup, lockTimeout) : null;
	}

	static String withTimeout(String sql, Duration lockTimeout) {
		return sql.replace("@@millis@@", Long.toString(lockTimeout.toMillis()))
			.replace("@@seconds@@", Long.toString(Math.max(1, lockTimeout.toSeconds())));
	}

	/**
	 * The texts that MySQL and MariaDB share.
	 */
	private static final class MySqlTexts {

		// not UNIX_TIMESTAMP: it depends on the time zone of the session
		private static final String NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

		// not ON DUPLICATE KEY: its count depends on a flag of the driver
		private static final String INSERT_LOCK = "INSERT IGNORE INTO @@lock@@ (@@columns@@) VALUES (@@values@@)";

		private static final String UPSERT_RUN = "INSERT INTO @@run@@ (@@columns@@) VALUES (@@values@@)"
				+ " ON DUPLICATE KEY UPDATE status = VALUES(status), token = VALUES(token), nonce = VALUES(nonce),"
				+ " owner_info = VALUES(owner_info), attempt = VALUES(attempt), began_at = VALUES(began_at),"
				+ " ended_at = VALUES(ended_at), not_before = VALUES(not_before), error = VALUES(error),"
				+ " kept_until = VALUES(kept_until)";

		private static final String LOCK_TIMEOUT = "SET SESSION innodb_lock_wait_timeout = @@seconds@@";

		private MySqlTexts() {
		}

	}

}
