package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.UUID;

import javax.sql.DataSource;

import io.mutex.testing.TestServers;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A database with the provider's tables that no other test class uses.
 */
final class TestDatabase {

	private static final Map<JdbcPlatform, TestDatabase> shared = new EnumMap<>(JdbcPlatform.class);

	private static @Nullable Server h2Server;

	private final String url;

	private final String remoteUrl;

	private TestDatabase(String url, String remoteUrl) {
		this.url = url;
		this.remoteUrl = remoteUrl;
	}

	/**
	 * The one database of that platform that the tests of keys of their own share.
	 * @param platform the platform
	 * @return the database
	 */
	static synchronized TestDatabase shared(JdbcPlatform platform) {
		return shared.computeIfAbsent(platform, TestDatabase::of);
	}

	static TestDatabase of(JdbcPlatform platform) {
		TestDatabase database = empty(platform);
		JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
		return database;
	}

	static TestDatabase empty(JdbcPlatform platform) {
		return switch (platform) {
			case H2 -> h2("");
			case POSTGRESQL -> at(TestServers.postgres().newDatabase());
			case MARIADB -> at(TestServers.mariadb().newDatabase()).with("useServerPrepStmts=true");
			case MYSQL -> at(mySqlUrl(TestServers.mariadb().newDatabase()));
		};
	}

	static TestDatabase h2(String options) {
		String name = "mem:mutex-" + UUID.randomUUID();
		return new TestDatabase("jdbc:h2:" + name + ";DB_CLOSE_DELAY=-1" + options,
				"jdbc:h2:tcp://127.0.0.1:" + h2Port() + "/" + name);
	}

	static TestDatabase at(String url) {
		return new TestDatabase(url, url);
	}

	static String mySqlUrl(String mariaDbUrl) {
		return mariaDbUrl.replace("jdbc:mariadb:", "jdbc:mysql:") + "&sslMode=DISABLED";
	}

	// no server of its own: it serves the databases in the memory of this JVM
	private static synchronized int h2Port() {
		try {
			if (h2Server == null) {
				h2Server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
			}
			return h2Server.getPort();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	String url() {
		return this.url;
	}

	/**
	 * The URL by which another process reaches the database.
	 * @return the URL
	 */
	String remoteUrl() {
		return this.remoteUrl;
	}

	/**
	 * The same database by a URL with more parameters.
	 * @param parameters the parameters, separated as in the URL
	 * @return the database
	 */
	TestDatabase with(String parameters) {
		return at(this.url + (this.url.startsWith("jdbc:h2:") ? ";" : "&") + parameters);
	}

	JdbcLockProvider provider() {
		return provider(dataSource(), JdbcSettings.defaults());
	}

	static JdbcLockProvider provider(DataSource dataSource, JdbcSettings settings) {
		return new JdbcLockProvider(dataSource, "test", patient(settings));
	}

	JdbcFenceGuard guard() {
		return guard(dataSource());
	}

	static JdbcFenceGuard guard(DataSource dataSource) {
		return new JdbcFenceGuard(dataSource, "test", patient(JdbcSettings.defaults()));
	}

	/**
	 * Settings that wait for a locked row for as short as the database can.
	 * @return the settings
	 */
	static JdbcSettings impatient() {
		return JdbcSettings.defaults().withTimeouts(Duration.ofMillis(200), Duration.ofSeconds(20));
	}

	private static JdbcSettings patient(JdbcSettings settings) {
		return settings.withTimeouts(Duration.ofSeconds(1), Duration.ofSeconds(20));
	}

	DataSource dataSource() {
		return new DriverManagerDataSource(this.url);
	}

	Connection connect() throws SQLException {
		return DriverManager.getConnection(this.url);
	}

	/**
	 * A connection of the application with a transaction that has begun.
	 * @return the connection
	 * @throws SQLException if there is none
	 */
	Connection begin() throws SQLException {
		Connection connection = connect();
		connection.setAutoCommit(false);
		return connection;
	}

	void execute(String sql) throws SQLException {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	String query(String sql) throws SQLException {
		try (Connection connection = connect();
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getString(1);
		}
	}

	/**
	 * Makes all that is stored in a namespace older.
	 * @param namespace the namespace
	 * @param time by how much
	 * @throws SQLException if that fails
	 */
	void letPass(String namespace, Duration time) throws SQLException {
		long micros = time.toNanos() / 1000;
		String where = " WHERE namespace = '" + namespace + "'";
		execute("UPDATE mutex_lock SET acquired_at = acquired_at - " + micros + ", expires_at = "
				+ older("expires_at", micros) + ", buried_at = " + older("buried_at", micros) + ", kept_until = "
				+ older("kept_until", micros) + ", shared_until = " + older("shared_until", micros)
				+ ", waiter_until = " + older("waiter_until", micros) + where);
		execute("UPDATE mutex_run SET began_at = began_at - " + micros + ", ended_at = ended_at - " + micros
				+ ", not_before = " + older("not_before", micros) + ", kept_until = " + older("kept_until", micros)
				+ where);
		execute("UPDATE mutex_fence SET changed_at = changed_at - " + micros + where);
	}

	private static String older(String column, long micros) {
		return "CASE WHEN " + column + " > 0 AND " + column + " < " + Long.MAX_VALUE + " THEN " + column + " - "
				+ micros + " ELSE " + column + " END";
	}

}
