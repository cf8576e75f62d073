package io.mutex.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

import io.mutex.MutexException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What weakens a database that is fit.
 */
class StoreFindingTests {

	private static final String FSYNC = "SELECT current_setting('fsync')";

	private static final String FLUSH = "SELECT @@innodb_flush_log_at_trx_commit";

	private static final String SIZE = "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'";

	private static final String WSREP = "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'";

	@Test
	@DisplayName("J1 PostgreSQL that commits asynchronously, or does not flush at all, is found")
	void settingsOfPostgresAreFound() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		assertThat(findings(database, Map.of(FSYNC, "SELECT 'on'"))).isEmpty();
		assertThat(findings(database, Map.of(FSYNC, "SELECT 'off'"))).singleElement().asString().contains("fsync=off");
		TestDatabase asynchronous = database.with("options=-c%20synchronous_commit=off");
		assertThat(findings(asynchronous, Map.of(FSYNC, "SELECT 'on'"))).singleElement()
			.asString()
			.contains("synchronous_commit=off")
			.contains("durable all the same");
	}

	@Test
	@DisplayName("J2 MariaDB that flushes lazily is found")
	void settingsOfMariaDbAreFound() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.MARIADB);
		assertThat(findings(database, Map.of(FLUSH, "SELECT 1"))).isEmpty();
		assertThat(findings(database, Map.of(FLUSH, "SELECT 0"))).singleElement()
			.asString()
			.contains("innodb_flush_log_at_trx_commit=0");
		assertThat(findings(database, Map.of(FLUSH, "SELECT 1", "SELECT @@global.log_bin", "SELECT 1"))).singleElement()
			.asString()
			.contains("sync_binlog=0");
	}

	@Test
	void clusterThatWritesEverywhereIsFound() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.MARIADB);
		Map<String, String> one = Map.of(FLUSH, "SELECT 1", SIZE, "SELECT '', '1'", WSREP, "SELECT '', 'ON'");
		assertThat(findings(database, one)).isEmpty();
		Map<String, String> off = Map.of(FLUSH, "SELECT 1", SIZE, "SELECT '', '3'", WSREP, "SELECT '', 'OFF'");
		assertThat(findings(database, off)).isEmpty();
		Map<String, String> galera = Map.of(FLUSH, "SELECT 1", SIZE, "SELECT '', '3'", WSREP, "SELECT '', 'ON'");
		assertThat(findings(database, galera)).singleElement().asString().contains("several servers take writes");
		Map<String, String> group = Map.of(FLUSH, "SELECT 1",
				"SHOW GLOBAL VARIABLES LIKE 'group_replication_single_primary_mode'", "SELECT '', 'OFF'");
		assertThat(findings(database, group)).singleElement().asString().contains("several servers take writes");
	}

	@Test
	void databaseThatTakesNoWritesIsRefused() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		database.execute("ALTER DATABASE " + database.query("SELECT current_database()")
				+ " SET default_transaction_read_only = on");
		try (JdbcLockProvider locks = database.provider(); JdbcFenceGuard guard = database.guard()) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(locks::check).withMessageContaining("read-only");
			assertThatExceptionOfType(MutexException.class).isThrownBy(guard::check).withMessageContaining("read-only");
		}
	}

	@Test
	void providerAnswersWithWhatTheLatestCheckFound() {
		try (JdbcLockProvider locks = TestDatabase.shared(JdbcPlatform.MARIADB).provider()) {
			assertThat(locks.findings()).isEmpty();
			locks.check();
			assertThat(locks.findings()).singleElement().asString().contains("innodb_flush_log_at_trx_commit=2");
		}
	}

	private static Iterable<String> findings(TestDatabase database, Map<String, String> answers) throws SQLException {
		JdbcPlatform platform = database.url().startsWith("jdbc:postgresql:") ? JdbcPlatform.POSTGRESQL
				: JdbcPlatform.MARIADB;
		try (Connection connection = database.connect()) {
			return StoreCheck.ofLocks(platform, JdbcSettings.defaults()).run(pretend(connection, answers));
		}
	}

	// a server that has another setting, which none of ours can be given
	private static Connection pretend(Connection target, Map<String, String> answers) {
		return proxy(Connection.class, target, answers);
	}

	private static <T> T proxy(Class<T> type, Object target, Map<String, String> answers) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (method.getName().equals("executeQuery")) {
					arguments[0] = answers.getOrDefault(arguments[0], (String) arguments[0]);
				}
				try {
					Object result = method.invoke(target, arguments);
					return (result instanceof Statement) ? proxy(Statement.class, result, answers) : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
