package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Whose connections and transactions the provider works in.
 */
class OwnTransactionTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("C78 every step commits by itself, whatever the caller's transaction does")
	void stepsArePartOfNoTransactionOfTheCaller(JdbcPlatform platform) {
		TestDatabase database = TestDatabase.shared(platform);
		DataSource dataSource = database.dataSource();
		DataSource proxy = new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(dataSource));
		try (LockProvider provider = TestDatabase.provider(proxy, JdbcSettings.defaults());
				LockProvider other = database.provider()) {
			AtomicReference<Grant> grant = new AtomicReference<>();
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
			transaction.executeWithoutResult((status) -> {
				Grant failed = Requests.take(provider, Requests.request(Requests.newKey(), "u1"));
				assertThat(other.lock(failed.key())).isPresent();
				provider.complete(failed, "u1");
				assertThat(other.runs(failed.key(), 10)).hasSize(1);
				grant.set(Requests.take(provider, Requests.request(failed.key(), "u2")));
				status.setRollbackOnly();
			});
			assertThat(other.lock(grant.get().key())).isPresent();
			assertThat(other.runs(grant.get().key(), 10)).hasSize(1);
			assertThat(other.release(grant.get().key(), grant.get().nonce(), true)).isEqualTo(Settlement.SETTLED);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C6 a lease ends in its time although the transaction of the caller stays at its beginning")
	void timeGoesOnInAnOpenTransactionOfTheCaller(JdbcPlatform platform) {
		DataSource dataSource = TestDatabase.shared(platform).dataSource();
		for (int poolSize : new int[] { 0, 2 }) {
			try (LockProvider provider = TestDatabase.provider(new TransactionAwareDataSourceProxy(dataSource),
					JdbcSettings.defaults().withPoolSize(poolSize))) {
				TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
				transaction.executeWithoutResult((status) -> {
					new JdbcTemplate(dataSource).queryForObject("SELECT CURRENT_TIMESTAMP", Object.class);
					Grant brief = Requests.take(provider,
							Requests.request(Requests.newKey(), null, Duration.ofMillis(1)));
					Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> provider.lock(brief.key()).isEmpty());
					assertThat(Requests.take(provider, brief.key()).token()).isGreaterThan(brief.token());
				});
			}
		}
	}

	@Test
	@DisplayName("P7 C80 a caller who holds the only connection still gets a lock, and keeps it")
	void callerWhoHoldsTheOnlyConnectionGetsALock() throws SQLException {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.H2);
		try (HikariDataSource pool = pool(database);
				Connection held = pool.getConnection();
				LockProvider provider = TestDatabase.provider(pool, JdbcSettings.defaults())) {
			Grant grant = Requests.take(provider, Requests.newKey());
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(provider.release(grant.key(), grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(held.isValid(1)).isTrue();
		}
	}

	@Test
	@DisplayName("C80 without own connections the wait is bounded, and the message names the pool")
	void exhaustedPoolIsNamed() throws SQLException {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.H2);
		try (HikariDataSource pool = pool(database);
				Connection held = pool.getConnection();
				LockProvider provider = TestDatabase.provider(pool, JdbcSettings.defaults().withPoolSize(0))) {
			assertThat(held).isNotNull();
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> provider.acquire(Requests.request(Requests.newKey())))
				.withMessageContaining("orders-pool")
				.withMessageContaining("mutex.jdbc.pool-size");
		}
	}

	@Test
	@DisplayName("C81 a read-only database is a failure, not a holder, and is left behind without a restart")
	void readOnlyDatabaseIsAFailure() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		String name = database.query("SELECT current_database()");
		database.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
		try (LockProvider provider = database.provider()) {
			String key = Requests.newKey();
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(Requests.request(key)))
				.withMessageContaining("takes no writes");
			assertThatExceptionOfType(MutexException.class).isThrownBy(provider::check)
				.withMessageContaining("read-only");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(Requests.request(key)));
			try (Connection connection = database.connect()) {
				connection.createStatement().execute("SET default_transaction_read_only = off");
				connection.createStatement()
					.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = off");
			}
			assertThat(provider.acquire(Requests.request(key))).isInstanceOf(Acquisition.Granted.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C82 a borrowed connection goes back as it came")
	void borrowedConnectionGoesBackAsItCame(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (HikariDataSource pool = pool(database)) {
			pool.setAutoCommit(false);
			pool.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
			try (LockProvider provider = TestDatabase.provider(pool, JdbcSettings.defaults().withPoolSize(0));
					LockProvider other = database.provider()) {
				for (int i = 0; i < 20; i++) {
					Grant grant = Requests.take(provider, Requests.request(Requests.newKey(), "u"));
					assertThat(other.lock(grant.key())).isPresent();
					assertAsConfigured(pool);
					provider.complete(grant, "u");
					assertThat(other.lock(grant.key())).isEmpty();
					assertAsConfigured(pool);
				}
			}
		}
	}

	private static void assertAsConfigured(HikariDataSource pool) throws SQLException {
		try (Connection connection = pool.getConnection()) {
			Connection physical = connection.unwrap(Connection.class);
			assertThat(physical.getAutoCommit()).isFalse();
			assertThat(physical.isReadOnly()).isFalse();
			assertThat(physical.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
			connection.rollback();
		}
	}

	@Test
	@DisplayName("C97 the database is not touched before the first operation")
	void databaseIsNotTouchedBeforeTheFirstOperation() {
		AtomicReference<String> tenant = new AtomicReference<>();
		DataSource routing = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				if (tenant.get() == null) {
					throw new IllegalStateException("no tenant");
				}
				return TestDatabase.shared(JdbcPlatform.H2).connect();
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				return getConnection();
			}

		};
		try (LockProvider provider = TestDatabase.provider(routing, JdbcSettings.defaults())) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> provider.acquire(Requests.request(Requests.newKey())))
				.withMessageContaining("no tenant");
			tenant.set("a");
			Requests.take(provider, Requests.newKey());
		}
	}

	@Test
	@DisplayName("C99 a connection of its own for every statement changes nothing")
	void anotherConnectionForEveryOperationIsEnough() {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.POSTGRESQL);
		try (LockProvider provider = TestDatabase.provider(database.dataSource(),
				JdbcSettings.defaults().withPoolSize(0))) {
			for (int i = 0; i < 5; i++) {
				Grant grant = Requests.take(provider, Requests.newKey());
				assertThat(provider.acquire(Requests.request(grant.key()))).isInstanceOf(Acquisition.Held.class);
				assertThat(provider.renew(List.of(grant))).containsOnly(LockProvider.Renewal.RENEWED);
				assertThat(provider.release(grant.key(), grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			}
		}
	}

	@Test
	@DisplayName("C78 the one connection of all callers is refused, since it would commit their transactions")
	void oneConnectionOfAllCallersIsRefused() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.H2);
		database.execute("CREATE TABLE work (id INT)");
		SingleConnectionDataSource shared = new SingleConnectionDataSource(database.url(), true);
		try (LockProvider provider = TestDatabase.provider(shared, JdbcSettings.defaults())) {
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(shared));
			transaction.executeWithoutResult((status) -> {
				new JdbcTemplate(shared).execute("INSERT INTO work VALUES (1)");
				assertThatExceptionOfType(StoreSetupException.class)
					.isThrownBy(() -> provider.acquire(Requests.request(Requests.newKey())))
					.withMessageContaining("SingleConnectionDataSource");
				status.setRollbackOnly();
			});
			assertThat(database.query("SELECT COUNT(*) FROM work")).isEqualTo("0");
		}
		finally {
			shared.destroy();
		}
	}

	@Test
	void closedProviderSaysSo() {
		LockProvider provider = TestDatabase.shared(JdbcPlatform.H2).provider();
		provider.close();
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.lock("key"))
			.withMessageContaining("closed");
	}

	@Test
	void unknownDatabaseIsNamed() {
		assertThatExceptionOfType(StoreSetupException.class).isThrownBy(() -> JdbcPlatform.of("Sybase"))
			.withMessageContaining("'Sybase'")
			.withMessageContaining("mutex.jdbc.platform")
			.withMessageContaining("postgresql");
	}

	private static HikariDataSource pool(TestDatabase database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.url());
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(2000);
		pool.setPoolName("orders-pool");
		return pool;
	}

}
