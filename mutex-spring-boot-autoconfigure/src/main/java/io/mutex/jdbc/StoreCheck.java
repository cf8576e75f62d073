package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves that a database is fit to keep locks or to guard resources, and finds what
 * weakens it. Only reads, and logs the same finding once.
 */
final class StoreCheck {

	private static final Logger logger = LoggerFactory.getLogger(StoreCheck.class);

	private static final Map<String, String> TABLES = Map.of("lock", "namespace, lock_key, slot, " + Rows.LOCK_COLUMNS,
			"run", "namespace, lock_key, " + Rows.RUN_COLUMNS, "fence", FenceTable.COLUMNS);

	private final JdbcPlatform platform;

	private final JdbcSettings settings;

	private final List<String> tables;

	private final Set<String> logged = ConcurrentHashMap.newKeySet();

	private StoreCheck(JdbcPlatform platform, JdbcSettings settings, List<String> tables) {
		this.platform = platform;
		this.settings = settings;
		this.tables = tables;
	}

	static StoreCheck ofLocks(JdbcPlatform platform, JdbcSettings settings) {
		return new StoreCheck(platform, settings, List.of("lock", "run", "fence"));
	}

	static StoreCheck ofFences(JdbcPlatform platform, JdbcSettings settings) {
		return new StoreCheck(platform, settings, List.of("fence"));
	}

	// what weakens the database although it is fit
	List<String> run(Connection connection) throws SQLException {
		for (String table : this.tables) {
			requireTable(connection, this.settings.table(table), Objects.requireNonNull(TABLES.get(table)));
		}
		List<String> findings = new ArrayList<>();
		switch (this.platform) {
			case H2 -> checkH2(connection);
			case POSTGRESQL -> checkPostgres(connection, findings);
			case MARIADB, MYSQL -> checkMySql(connection, findings);
		}
		return List.copyOf(findings);
	}

	private void requireTable(Connection connection, String table, String columns) throws SQLException {
		try {
			query(connection, "SELECT " + columns + " FROM " + table + " WHERE 1 = 0");
		}
		catch (SQLException ex) {
			if (Failure.of(ex) == Failure.MISSING_TABLE) {
				throw new MissingTableException(table, JdbcSchema.ddl(this.platform, this.settings), ex);
			}
			throw ex;
		}
	}

	private void checkH2(Connection connection) throws SQLException {
		String name = this.tables.get(0);
		String table = (this.settings.tablePrefix() + name).toLowerCase(Locale.ROOT);
		String insensitive = query(connection, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS"
				+ " WHERE LOWER(TABLE_NAME) = '" + table + "' AND DATA_TYPE = 'VARCHAR_IGNORECASE'");
		if (!insensitive.equals("0")) {
			throw new StoreSetupException(
					"The columns of table " + this.settings.table(name)
							+ " ignore case, so that 'Job' and 'job' would be one key.",
					"Create the tables of the jdbc provider without IGNORECASE=TRUE.", null);
		}
	}

	private void checkPostgres(Connection connection, List<String> findings) throws SQLException {
		if (query(connection, "SELECT current_setting('transaction_read_only')").equals("on")) {
			throw readOnly();
		}
		if (query(connection, "SELECT current_setting('fsync')").equals("off")) {
			warn(findings, "PostgreSQL runs with fsync=off: after a crash it may grant a lock that is held");
		}
		if (query(connection, "SELECT current_setting('synchronous_commit')").equals("off")) {
			String text = "PostgreSQL runs with synchronous_commit=off: grants and registrations are made durable all"
					+ " the same, but after a crash the last commits of the application may be missing";
			findings.add(text);
			if (this.logged.add(text)) {
				logger.info(text);
			}
		}
	}

	private void checkMySql(Connection connection, List<String> findings) throws SQLException {
		if (!query(connection, "SELECT @@global.read_only").matches("0|OFF")) {
			throw readOnly();
		}
		if (query(connection, "SELECT @@sql_mode").contains("SIMULTANEOUS_ASSIGNMENT")) {
			throw new StoreSetupException("The jdbc provider cannot work with sql_mode SIMULTANEOUS_ASSIGNMENT.",
					"Remove it from sql_mode, in the server or with sessionVariables in the JDBC URL.", null);
		}
		String flush = query(connection, "SELECT @@innodb_flush_log_at_trx_commit");
		if (!flush.equals("1")) {
			warn(findings,
					"The database runs with innodb_flush_log_at_trx_commit=" + flush
							+ ": after a crash it may grant a lock that is held, and forget what was registered last;"
							+ " set it to 1");
		}
		String sync = query(connection, "SELECT @@global.sync_binlog");
		if (!sync.equals("1") && query(connection, "SELECT @@global.log_bin").matches("1|ON")) {
			warn(findings, "The database writes a binary log with sync_binlog=" + sync
					+ ": after a crash of its host it may grant a lock that is held; set it to 1");
		}
		checkCluster(connection, findings);
	}

	private void checkCluster(Connection connection, List<String> findings) throws SQLException {
		String servers = value(connection, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'");
		boolean galera = servers.matches("\\d+") && !servers.matches("[01]")
				&& value(connection, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'").equals("ON");
		if (galera || value(connection, "SHOW GLOBAL VARIABLES LIKE 'group_replication_single_primary_mode'")
			.equals("OFF")) {
			warn(findings, "The database is a cluster of which several servers take writes: a row that is locked on"
					+ " one is free on the others until the commit, which may be refused then; let all instances of"
					+ " the application write to the same server");
		}
	}

	private void warn(List<String> findings, String text) {
		findings.add(text);
		if (this.logged.add(text)) {
			logger.warn(text);
		}
	}

	private static MutexException readOnly() {
		return new MutexException("the jdbc provider needs a database that takes writes, and this one is read-only:"
				+ " check that the DataSource leads to the primary server and that its user may write");
	}

	private static String query(Connection connection, String sql) throws SQLException {
		return query(connection, sql, 1);
	}

	// of a list of names and values
	private static String value(Connection connection, String sql) throws SQLException {
		return query(connection, sql, 2);
	}

	private static String query(Connection connection, String sql, int column) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			String value = rows.next() ? rows.getString(column) : null;
			return (value != null) ? value : "";
		}
	}

}
