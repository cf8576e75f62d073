package io.mutex.transaction;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.LeaseLostException;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.GuardedDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.autoconfigure.DataSourcePoolMetadataProvidersConfiguration;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connections that a protected call uses outside of a transaction of Spring.
 */
class GuardedDataSourceTests {

	@ParameterizedTest
	@EnumSource
	void eachStatementThatCommitsItselfIsChecked(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
			assertOvertaken(application, () -> {
				long version = version(application);
				jdbc.update("INSERT INTO effect (unit) VALUES ('one')");
				assertThat(version(application)).isEqualTo(version + 1);
				jdbc.batchUpdate("INSERT INTO effect (unit) VALUES ('two')",
						"INSERT INTO effect (unit) VALUES ('three')");
				assertThat(version(application)).isEqualTo(version + 2);
				assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM effect", Integer.class)).isEqualTo(3);
				assertThat(version(application)).isEqualTo(version + 2);
				assertThat(application.held()).isEqualTo(1);
				FencedTransactionTests.overtake(application, "key");
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> jdbc.update("INSERT INTO effect (unit) VALUES ('stale')"));
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> jdbc.batchUpdate("INSERT INTO effect (unit) VALUES (?)",
							List.of(new Object[] { "stale" }, new Object[] { "stale" })));
				assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM effect", Integer.class)).isEqualTo(4);
			});
			jdbc.update("INSERT INTO effect (unit) VALUES ('after')");
			assertThat(application.effects()).isEqualTo(5);
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitByHandIsChecked(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			DataSource dataSource = application.bean(DataSource.class);
			assertOvertaken(application, () -> {
				try (Connection connection = dataSource.getConnection();
						Statement statement = connection.createStatement()) {
					connection.setAutoCommit(false);
					statement.execute("INSERT INTO effect (unit) VALUES ('one')");
					connection.commit();
					statement.execute("INSERT INTO effect (unit) VALUES ('two')");
					connection.setAutoCommit(true);
					connection.setAutoCommit(false);
					statement.execute("INSERT INTO effect (unit) VALUES ('left')");
				}
				assertThat(application.effects()).isEqualTo(2);
				try (Connection connection = dataSource.getConnection();
						Statement statement = connection.createStatement()) {
					connection.setAutoCommit(false);
					statement.execute("INSERT INTO effect (unit) VALUES ('stale')");
					FencedTransactionTests.overtake(application, "key");
					assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(connection::commit);
					statement.execute("INSERT INTO effect (unit) VALUES ('stale')");
					assertThatExceptionOfType(StaleFencingTokenException.class)
						.isThrownBy(() -> connection.setAutoCommit(true));
				}
			});
			assertThat(application.effects()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whatAStatementReturnsCanBeRead(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.execute((store == Stores.POSTGRESQL) ? "CREATE TABLE made (id serial PRIMARY KEY, a int)"
					: "CREATE TABLE made (id int AUTO_INCREMENT PRIMARY KEY, a int)");
			execute(application, () -> {
				GeneratedKeyHolder keys = new GeneratedKeyHolder();
				JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
				jdbc.setFetchSize(1);
				jdbc.update((connection) -> connection.prepareStatement("INSERT INTO made (a) VALUES (1)",
						new String[] { "id" }), keys);
				assertThat(keys.getKey()).hasToString("1");
				if (store != Stores.H2) {
					assertThat(
							jdbc.queryForList("INSERT INTO made (a) VALUES (1), (2), (3) RETURNING id", Integer.class))
						.containsExactly(2, 3, 4);
				}
				assertThat(jdbc.queryForList("SELECT id FROM made WHERE a = 1 ORDER BY id FOR UPDATE", Integer.class))
					.startsWith(1);
				jdbc.setFetchSize(-1);
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void whatNoGuardCouldSeeIsRefused(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			execute(application, () -> {
				try (Connection connection = application.bean(DataSource.class).getConnection()) {
					assertThatExceptionOfType(MutexException.class).isThrownBy(
							() -> connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE));
					assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> connection.createStatement().execute("BEGIN"))
						.withMessageContaining("'BEGIN'");
					connection.setAutoCommit(false);
					assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> connection.createStatement().execute("COMMIT"));
				}
			});
		}
	}

	@Test
	void onlyConnectionOfAPoolIsEnough() throws SQLException {
		try (TransactionalApplication application = start(Stores.POSTGRESQL,
				"spring.datasource.hikari.maximum-pool-size=1", "spring.datasource.hikari.connection-timeout=5000")) {
			JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
			execute(application, () -> {
				jdbc.update("INSERT INTO effect (unit) VALUES ('one')");
				application.transaction()
					.executeWithoutResult((status) -> jdbc.update("INSERT INTO effect (unit) VALUES ('two')"));
			});
			assertThat(application.effects()).isEqualTo(2);
		}
	}

	@Test
	void anotherThreadIsCheckedByTheLeaseOfTheCallThatGaveItTheConnection() throws SQLException {
		try (TransactionalApplication application = start(Stores.POSTGRESQL)) {
			assertOvertaken(application, () -> {
				try (Connection connection = application.bean(DataSource.class).getConnection();
						PreparedStatement statement = connection
							.prepareStatement("INSERT INTO effect (unit) VALUES ('thread')")) {
					assertThat(CompletableFuture.supplyAsync(() -> update(statement)).join()).isEqualTo("1");
					FencedTransactionTests.overtake(application, "key");
					assertThat(CompletableFuture.supplyAsync(() -> update(statement)).join()).contains("refused");
				}
			});
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'thread'")).isEqualTo("1");
		}
	}

	private static String update(PreparedStatement statement) {
		try {
			return Integer.toString(statement.executeUpdate());
		}
		catch (SQLException | MutexException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	@Test
	void statementBesideAnOuterSnapshotIsRefused() throws SQLException {
		try (TransactionalApplication application = start(Stores.POSTGRESQL)) {
			execute(application, () -> {
				TransactionTemplate outer = application.transaction(Connection.TRANSACTION_REPEATABLE_READ);
				TransactionTemplate none = application.transaction();
				none.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
				outer.executeWithoutResult((status) -> {
					JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
					assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> none.executeWithoutResult(
								(suspended) -> jdbc.update("INSERT INTO effect (unit) VALUES ('in')")))
						.withMessageContaining("READ COMMITTED");
					status.setRollbackOnly();
				});
			});
			assertThat(application.effects()).isZero();
		}
	}

	@Test
	void proxyHasTheClassOfTheDataSourceAndItsMetrics() throws SQLException {
		try (TransactionalApplication application = start(Stores.H2)) {
			HikariDataSource dataSource = application.bean(HikariDataSource.class);
			assertThat(dataSource).isInstanceOf(GuardedDataSource.class).isSameAs(application.bean(DataSource.class));
			assertThat(dataSource.isWrapperFor(HikariDataSource.class)).isTrue();
			assertThat(dataSource.getMaximumPoolSize()).isEqualTo(5);
			assertThat(DataSourceUnwrapper.unwrap(dataSource, HikariDataSource.class)).isNotNull();
			DataSourcePoolMetadata metadata = application.bean(DataSourcePoolMetadataProvider.class)
				.getDataSourcePoolMetadata(dataSource);
			assertThat(metadata).isNotNull();
			try (Connection connection = dataSource.getConnection()) {
				assertThat(connection.isWrapperFor(Confirmable.class)).isFalse();
				assertThat(metadata.getActive()).isEqualTo(1);
			}
		}
	}

	@Test
	void finalDataSourceIsGuardedByItsInterface() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.H2.newUrl(),
				FinalBeans.class)) {
			DataSource dataSource = application.bean(DataSource.class);
			assertThat(dataSource).isInstanceOf(GuardedDataSource.class).isNotInstanceOf(JdbcDataSource.class);
			assertThat(dataSource.unwrap(JdbcDataSource.class)).isNotNull();
		}
	}

	private static void assertOvertaken(TransactionalApplication application, Work work) {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> execute(application, work));
	}

	private static void execute(TransactionalApplication application, Work work) {
		application.bean(MutexTemplate.class).execute(LockRequest.of("key"), (lease) -> {
			try {
				work.run();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			return "";
		});
	}

	private static long version(TransactionalApplication application) {
		return Long.parseLong(application.query("SELECT version FROM mutex_lock"));
	}

	private static TransactionalApplication start(Stores store, String... properties) throws SQLException {
		return TransactionalApplication.start(store.newUrl(), Beans.class, properties);
	}

	private interface Work {

		void run() throws SQLException;

	}

	@Configuration(proxyBeanMethods = false)
	@Import(DataSourcePoolMetadataProvidersConfiguration.class)
	static class Beans {

	}

	@Configuration(proxyBeanMethods = false)
	static class FinalBeans {

		@Bean
		DataSource dataSource() {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL(Stores.H2.newUrl().replace(";USER=sa", ""));
			dataSource.setUser("sa");
			return dataSource;
		}

	}

}
