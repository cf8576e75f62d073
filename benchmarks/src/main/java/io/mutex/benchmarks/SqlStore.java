package io.mutex.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSettings;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * The calls to a database that are measured. All share one pool of Spring Boot's default
 * size, but for Mutex, which has a pool of its own: given the same settings and size, as
 * with its default of two connections eight threads queue for them.
 */
final class SqlStore implements AutoCloseable {

	private static final String UPDATE = "UPDATE bare SET v = v + 1 WHERE k = ?";

	private final HikariDataSource dataSource = new HikariDataSource();

	private final Connection connection;

	private final PreparedStatement update;

	private final MutexCalls mutex;

	private final LockProvider shedLock;

	private final DefaultLockRepository repository;

	private final JdbcLockRegistry integration;

	SqlStore(String url, boolean create) throws SQLException {
		this.dataSource.setJdbcUrl(url);
		JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
		if (create) {
			createTables(jdbc, url);
		}
		this.connection = this.dataSource.getConnection();
		this.update = this.connection.prepareStatement(UPDATE);
		JdbcSettings settings = JdbcSettings.defaults().withPoolSize(this.dataSource.getMaximumPoolSize());
		this.mutex = new MutexCalls(new JdbcLockProvider(this.dataSource, "bench", settings));
		this.shedLock = new JdbcTemplateLockProvider(
				JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(jdbc).usingDbTime().build());
		this.repository = new DefaultLockRepository(this.dataSource);
		this.repository.setTransactionManager(new JdbcTransactionManager(this.dataSource));
		this.repository.afterPropertiesSet();
		this.repository.afterSingletonsInstantiated();
		this.repository.start();
		this.integration = new JdbcLockRegistry(this.repository);
	}

	private void createTables(JdbcTemplate jdbc, String url) {
		jdbc.execute("CREATE TABLE bare (k VARCHAR(64) PRIMARY KEY, v BIGINT NOT NULL)");
		jdbc.update("INSERT INTO bare (k, v) VALUES ('key', 0)");
		boolean postgres = url.startsWith("jdbc:postgresql:");
		// as its documentation has it: a time that is rounded up would lie ahead of the
		// next call
		String time = postgres ? "TIMESTAMP" : "TIMESTAMP(3)";
		jdbc.execute("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until " + time + " NOT NULL, locked_at "
				+ time + " NOT NULL, locked_by VARCHAR(255) NOT NULL)");
		String schema = postgres ? "schema-postgresql.sql" : "schema-mysql.sql";
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(
				new ClassPathResource("org/springframework/integration/jdbc/" + schema));
		populator.execute(this.dataSource);
	}

	MutexCalls mutex() {
		return this.mutex;
	}

	/**
	 * Two updates by one prepared statement of one connection.
	 * @return the work
	 */
	Work bare() {
		return (body) -> {
			this.update.setString(1, "key");
			this.update.executeUpdate();
			body.run();
			this.update.setString(1, "key");
			this.update.executeUpdate();
		};
	}

	/**
	 * The same updates, each on a connection of the pool.
	 * @return the work
	 */
	Work barePooled() {
		return (body) -> {
			pooledUpdate();
			body.run();
			pooledUpdate();
		};
	}

	private void pooledUpdate() throws SQLException {
		try (Connection borrowed = this.dataSource.getConnection();
				PreparedStatement statement = borrowed.prepareStatement(UPDATE)) {
			statement.setString(1, "key");
			statement.executeUpdate();
		}
	}

	/**
	 * Lets PostgreSQL know its tables, as its autovacuum does within a minute: without
	 * statistics it takes a table of records for a small one, and reads all of it.
	 */
	void analyze() {
		if (this.dataSource.getJdbcUrl().startsWith("jdbc:postgresql:")) {
			new JdbcTemplate(this.dataSource).execute("ANALYZE");
		}
	}

	Work shedLock(String key) {
		return RedisStore.shedLock(this.shedLock, key);
	}

	Work integration(String key) {
		return (body) -> RedisStore.of(this.integration.obtain(key)).run(body);
	}

	@Override
	public void close() throws SQLException {
		this.mutex.close();
		this.repository.close();
		this.connection.close();
		this.dataSource.close();
	}

}
