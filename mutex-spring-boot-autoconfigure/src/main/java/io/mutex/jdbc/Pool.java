package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mutex.StoreSetupException;
import io.mutex.fence.GuardedDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Where connections come from: a small pool of the provider's own, with the settings of
 * the application's, or that one itself. With its own, a lock can be had and renewed
 * while the application's threads hold every connection they may have.
 *
 * @param dataSource the connections, never bound to a transaction of the caller
 * @param own whether they belong to the provider alone
 */
record Pool(DataSource dataSource, boolean own) implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Pool.class);

	private static final boolean hikariPresent = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			Pool.class.getClassLoader());

	// each of these opens a connection whenever it is asked for one
	private static final Set<String> UNPOOLED = Set.of("org.h2.jdbcx.JdbcDataSource",
			"org.postgresql.ds.PGSimpleDataSource", "org.mariadb.jdbc.MariaDbDataSource",
			"com.mysql.cj.jdbc.MysqlDataSource");

	static Pool of(DataSource application, JdbcSettings settings) throws SQLException {
		DataSource target = unwrap(application);
		if (target instanceof SingleConnectionDataSource) {
			throw new StoreSetupException(
					"The DataSource is a SingleConnectionDataSource: all callers share one connection,"
							+ " so that a lock would commit their transactions.",
					"Give the jdbc provider a DataSource that opens connections, such as a HikariDataSource;"
							+ " of several, mark it with @MutexDataSource.",
					null);
		}
		if (settings.poolSize() > 0 && hikariPresent) {
			if (isUnpooled(target)) {
				return new Pool(Hikari.around(target, settings), true);
			}
			if (Hikari.isHikari(target)) {
				return new Pool(Hikari.like(target, settings), true);
			}
		}
		logger.warn(
				"The jdbc provider borrows the connections of {}: callers who hold all of them block their own"
						+ " locks. {}",
				target.getClass().getName(),
				(settings.poolSize() > 0) ? "Its settings cannot be copied for own connections (mutex.jdbc.pool-size)"
						: "mutex.jdbc.pool-size is 0");
		return new Pool(target, false);
	}

	// takes off what would bind a connection to the caller's transaction, or check it
	private static DataSource unwrap(DataSource dataSource) {
		DataSource target = dataSource;
		while (true) {
			if (target instanceof GuardedDataSource guarded) {
				target = guarded.unguarded().get();
			}
			else if (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
				target = delegating.getTargetDataSource();
			}
			else {
				return target;
			}
		}
	}

	Connection connect() throws SQLException {
		try {
			return this.dataSource.getConnection();
		}
		catch (RuntimeException ex) {
			// such as a DataSource that routes by something the thread lacks
			throw new SQLException("the DataSource gave no connection: " + ex.getMessage(), ex);
		}
	}

	// another pool with the same settings, of one connection that is kept for ever
	Pool single() {
		return new Pool(Hikari.single(this.dataSource), true);
	}

	// closes an own connection for good
	void discard(Connection connection) {
		Hikari.discard(this.dataSource, connection);
	}

	private static boolean isUnpooled(DataSource dataSource) {
		return dataSource instanceof AbstractDriverBasedDataSource || dataSource instanceof EmbeddedDatabase
				|| UNPOOLED.contains(dataSource.getClass().getName());
	}

	@Override
	public void close() {
		if (this.own) {
			Hikari.close(this.dataSource);
		}
	}

	/**
	 * Spares HikariCP the question for a login time-out, which few of these answer.
	 */
	private static final class Unpooled extends DelegatingDataSource {

		Unpooled(DataSource target) {
			super(target);
		}

		@Override
		public int getLoginTimeout() {
			return 1;
		}

		@Override
		public void setLoginTimeout(int seconds) {
			// the limit on every answer does it
		}

	}

	/**
	 * All that needs HikariCP, which an application may lack.
	 */
	private static final class Hikari {

		private static final String NAME = "mutex";

		private static final long MIN_CONNECTION_TIMEOUT = 250;

		// few and long statements: parsing them would take most of their time
		private static final String PREPARE_ON_THE_SERVER = "useServerPrepStmts";

		private Hikari() {
		}

		static boolean isHikari(DataSource dataSource) throws SQLException {
			// what routes by the thread has no settings of its own, and may not be asked
			return !(dataSource instanceof AbstractRoutingDataSource)
					&& dataSource.isWrapperFor(HikariDataSource.class);
		}

		static DataSource like(DataSource source, JdbcSettings settings) throws SQLException {
			HikariConfig config = new HikariConfig();
			source.unwrap(HikariDataSource.class).copyStateTo(config);
			if (config.getMetricsTrackerFactory() != null) {
				config.setMetricsTrackerFactory(null);
			}
			else {
				config.setMetricRegistry(null);
			}
			config.setHealthCheckRegistry(null);
			return small(config, settings);
		}

		static DataSource around(DataSource source, JdbcSettings settings) {
			HikariConfig config = new HikariConfig();
			config.setDataSource(new Unpooled(source));
			return small(config, settings);
		}

		private static DataSource small(HikariConfig config, JdbcSettings settings) {
			config.setPoolName(NAME);
			config.setRegisterMbeans(false);
			config.setMaximumPoolSize(settings.poolSize());
			config.setMinimumIdle(0);
			config.setAutoCommit(true);
			config.setReadOnly(false);
			config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
			config.setConnectionTimeout(Math.max(MIN_CONNECTION_TIMEOUT, settings.queryTimeout().toMillis()));
			config.setInitializationFailTimeout(-1);
			config.setKeepaliveTime(0);
			config.setLeakDetectionThreshold(0);
			prepareOnTheServer(config);
			return new HikariDataSource(config);
		}

		// in the URL, since the properties are the application's own
		private static void prepareOnTheServer(HikariConfig config) {
			String url = config.getJdbcUrl();
			if (url != null && url.startsWith("jdbc:mariadb:") && !url.contains(PREPARE_ON_THE_SERVER)
					&& !config.getDataSourceProperties().containsKey(PREPARE_ON_THE_SERVER)) {
				config.setJdbcUrl(url + (url.contains("?") ? "&" : "?") + PREPARE_ON_THE_SERVER + "=true");
			}
		}

		static DataSource single(DataSource own) {
			HikariConfig config = new HikariConfig();
			((HikariDataSource) own).copyStateTo(config);
			config.setPoolName(NAME + "-listener");
			config.setMaximumPoolSize(1);
			config.setMaxLifetime(0);
			return new HikariDataSource(config);
		}

		static void discard(DataSource dataSource, Connection connection) {
			((HikariDataSource) dataSource).evictConnection(connection);
		}

		// a listener is ended by an interrupt, of which the pool would warn
		static void close(DataSource dataSource) {
			boolean interrupted = Thread.interrupted();
			((HikariDataSource) dataSource).close();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
