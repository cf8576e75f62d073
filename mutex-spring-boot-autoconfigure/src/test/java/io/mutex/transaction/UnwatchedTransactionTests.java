package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.StaleFencingTokenException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import io.mutex.annotation.SingleRun;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Ways in which a transaction could be committed that nobody has confirmed.
 */
class UnwatchedTransactionTests {

	@Test
	void workOfAStageInAJoinedTransactionIsConfirmed() throws SQLException {
		try (TransactionalApplication application = start()) {
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					application.bean(Accounts.class).later("a").join();
					FencedTransactionTests.overtake(application, "account:a");
				}));
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					application.bean(MutexTemplate.class).execute(LockRequest.of("account:b"), (lease) -> {
						work(application, "b");
						return CompletableFuture.completedFuture("b");
					}).join();
					FencedTransactionTests.overtake(application, "account:b");
				}));
			assertThat(stale(application)).isEqualTo("0");
		}
	}

	@Test
	void keyOfAStageIsHeldUntilTheTransactionEndsAndTheStageCompletes() throws SQLException {
		try (TransactionalApplication application = start()) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Accounts.class).later("a").join();
				assertThat(application.held()).isEqualTo(1);
			});
			Awaitility.await().until(() -> application.held() == 0);
			CompletableFuture<String> stage = new CompletableFuture<>();
			CompletableFuture<?> result = application.transaction()
				.execute((status) -> application.bean(MutexTemplate.class)
					.execute(LockRequest.of("account:a"), (lease) -> stage));
			assertThat(application.held()).isEqualTo(1);
			stage.complete("done");
			assertThat(result.join()).isEqualTo("done");
			Awaitility.await().until(() -> application.held() == 0);
			Awaitility.await().until(() -> application.engine().leases().isEmpty());
		}
	}

	@Test
	void leaseThatIsLostInAJoinedCallIsToldToTheCaller() throws SQLException {
		try (TransactionalApplication application = start("mutex.provider=memory", "mutex.interrupt-on-loss=false")) {
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> application.transaction()
				.executeWithoutResult((status) -> application.bean(Accounts.class).limited("a", () -> {
					Lease lease = Leases.current().orElseThrow();
					Awaitility.await().until(() -> !lease.isValid());
				})));
			assertThat(application.effects()).isZero();
		}
	}

	@Test
	void unsynchronizedTransactionOfTheCallerIsConfirmedOrRefused() throws SQLException {
		try (TransactionalApplication application = start()) {
			JdbcTransactionManager manager = (JdbcTransactionManager) application
				.bean(PlatformTransactionManager.class);
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					application.bean(Accounts.class).plain("a", () -> {
					});
					FencedTransactionTests.overtake(application, "account:a");
				}));
			assertThat(stale(application)).isEqualTo("0");
		}
	}

	@Test
	void refusalOfAnUnsynchronizedTransactionLeavesNoLimitAtItsConnection() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.MARIADB.newUrl(), Beans.class,
				"spring.datasource.hikari.maximum-pool-size=1")) {
			JdbcTransactionManager manager = (JdbcTransactionManager) application
				.bean(PlatformTransactionManager.class);
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
			List<Map<String, Object>> limits = limits(application);
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> application.bean(Accounts.class)
				.plain("a", () -> assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
						work(application, "a");
						FencedTransactionTests.overtake(application, "account:a");
					}))));
			assertThat(limits(application)).isEqualTo(limits);
		}
	}

	private static List<Map<String, Object>> limits(TransactionalApplication application) {
		return application.bean(JdbcTemplate.class)
			.queryForList("SHOW SESSION VARIABLES WHERE Variable_name IN"
					+ " ('innodb_lock_wait_timeout', 'idle_write_transaction_timeout')");
	}

	@Test
	void transactionThatOutlivesTheCallItBeganInIsConfirmed() throws SQLException {
		try (TransactionalApplication application = start()) {
			PlatformTransactionManager manager = application.bean(PlatformTransactionManager.class);
			DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
			definition.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
			TransactionStatus[] left = new TransactionStatus[1];
			application.bean(Accounts.class).plain("a", () -> {
				left[0] = manager.getTransaction(definition);
				work(application, "a");
			});
			FencedTransactionTests.overtake(application, "account:a");
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> manager.commit(left[0]));
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit <> 'successor'")).isEqualTo("1");
		}
	}

	@Test
	void transactionWhoseSnapshotIsNewerThanTheGrantMayReenter() throws SQLException {
		try (TransactionalApplication application = beside()) {
			TransactionTemplate repeatable = application.transaction(Connection.TRANSACTION_REPEATABLE_READ);
			application.bean(Accounts.class)
				.plain("a", () -> repeatable
					.executeWithoutResult((status) -> application.bean(Accounts.class).plain("a", () -> {
					})));
			assertThat(application.effects()).isEqualTo(2);
		}
	}

	@Test
	void singleRunInASnapshotThatIsOlderThanItsGrantIsRefused() throws SQLException {
		try (TransactionalApplication application = beside()) {
			TransactionTemplate repeatable = application.transaction(Connection.TRANSACTION_REPEATABLE_READ);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> repeatable.executeWithoutResult((status) -> application.bean(Accounts.class).once()))
				.withMessageContaining("READ COMMITTED");
			assertThat(application.effects()).isZero();
		}
	}

	@Test
	void levelOfOneTransactionIsNotTakenForTheDefault() throws SQLException {
		try (TransactionalApplication application = start(
				"spring.datasource.hikari.transaction-isolation=" + "TRANSACTION_REPEATABLE_READ")) {
			JdbcTransactionManager manager = (JdbcTransactionManager) application
				.bean(PlatformTransactionManager.class);
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
			application.bean(Accounts.class)
				.plain("a", () -> application.transaction().executeWithoutResult((status) -> work(application, "a")));
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
					.executeWithoutResult((status) -> application.bean(Accounts.class).plain("b", () -> {
					})))
				.withMessageContaining("READ COMMITTED");
		}
	}

	@Test
	void transactionWithoutAKnownConnectionIsRefused() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.H2.newUrl(),
				OtherBeans.class)) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> application.bean(Accounts.class)
				.plain("a",
						() -> new TransactionTemplate(application.bean(Opaque.class)).executeWithoutResult((status) -> {
							work(application, "a");
							FencedTransactionTests.overtake(application, "account:a");
						})));
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'a' AND checked = 'stale'"))
				.isEqualTo("0");
		}
	}

	private static void work(TransactionalApplication application, String id) {
		application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit, checked) VALUES (?, 'stale')", id);
	}

	private static String stale(TransactionalApplication application) {
		return application.query("SELECT COUNT(*) FROM effect WHERE unit <> 'successor'");
	}

	private static TransactionalApplication start(String... properties) throws SQLException {
		return TransactionalApplication.start(Stores.H2.newUrl(), Beans.class, properties);
	}

	// the locks are elsewhere, and the database has a guard
	private static TransactionalApplication beside() throws SQLException {
		return start("mutex.provider=memory", "mutex.fenced.jdbc.enabled=true");
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Accounts accounts(JdbcTemplate jdbc) {
			return new Accounts(jdbc);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherBeans extends Beans {

		@Bean
		Opaque opaque(DataSource dataSource) {
			return new Opaque(dataSource);
		}

	}

	/** As that of an entity manager that does not show its connection. */
	static final class Opaque extends AbstractPlatformTransactionManager {

		private final transient DataSource dataSource;

		Opaque(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		public DataSource getDataSource() {
			return this.dataSource;
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			try {
				Connection connection = this.dataSource.getConnection();
				connection.setAutoCommit(false);
				ConnectionHolder holder = new ConnectionHolder(connection);
				holder.setSynchronizedWithTransaction(true);
				TransactionSynchronizationManager.bindResource(this.dataSource, holder);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void end(boolean commit) {
			ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager
				.unbindResource(this.dataSource);
			try (Connection connection = holder.getConnection()) {
				if (commit) {
					connection.commit();
				}
				else {
					connection.rollback();
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			end(true);
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			end(false);
		}

	}

	static class Accounts {

		private final JdbcTemplate jdbc;

		Accounts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Fenced("account:#{#id}")
		void plain(String id, Runnable then) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
			then.run();
		}

		@Fenced(key = "limited:#{#id}", maxHold = "50ms", fencing = Fencing.NONE)
		void limited(String id, Runnable then) {
			plain(id, then);
		}

		@Fenced("account:#{#id}")
		CompletableFuture<String> later(String id) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
			return CompletableFuture.completedFuture(id);
		}

		@SingleRun(key = "once", per = "forever")
		void once() {
			assertThat(Leases.current()).isPresent();
			this.jdbc.update("INSERT INTO effect (unit) VALUES ('once')");
		}

	}

}
