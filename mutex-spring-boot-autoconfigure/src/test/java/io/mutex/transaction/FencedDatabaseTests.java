package io.mutex.transaction;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.StaleFencingTokenException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import io.mutex.interceptor.MutexConfigurationException;
import io.mutex.jdbc.JdbcFenceGuard;
import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * How databases, and what manages their transactions, take part in the check of a lease.
 */
class FencedDatabaseTests {

	@ParameterizedTest
	@EnumSource
	void commitThatTakesLongLosesNoLease(Stores store) throws Exception {
		try (TransactionalApplication application = TransactionalApplication.start(store.newUrl(), Beans.class,
				"mutex.fenced.lease=6s")) {
			CompletableFuture<String> done = new CompletableFuture<>();
			CompletableFuture<String> other = CompletableFuture
				.supplyAsync(() -> application.bean(MutexTemplate.class).execute(LockRequest.of("other"), (lease) -> {
					done.join();
					lease.assertValid();
					return "kept";
				}));
			Awaitility.await().until(() -> application.held() == 1);
			afterConfirmation(application, () -> {
				long expires = expires(application, "other");
				Awaitility.await().until(() -> expires(application, "other") > expires + 1_000_000);
			});
			execute(application, () -> {
				application.transaction().executeWithoutResult((status) -> write(application));
				Leases.assertHeld("key");
				// the row can be renewed again
				long expires = expires(application, "key");
				Awaitility.await().until(() -> expires(application, "key") > expires);
			});
			done.complete("");
			assertThat(other.get()).isEqualTo("kept");
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	private static void afterConfirmation(TransactionalApplication application, Runnable action) {
		application.bean(ConfigurableTransactionManager.class).addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				action.run();
			}

		});
	}

	private static long expires(TransactionalApplication application, String key) {
		return Long.parseLong(application.query("SELECT expires_at FROM mutex_lock WHERE lock_key = '" + key + "'"));
	}

	@ParameterizedTest
	@ValueSource(classes = { LazyBeans.class, JpaBeans.class })
	void connectionThatIsFetchedLateIsCheckedOnce(Class<?> beans) throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.POSTGRESQL.newUrl(), beans,
				"spring.datasource.hikari.auto-commit=false", "spring.jpa.hibernate.ddl-auto=create",
				"spring.jpa.properties.hibernate.connection.provider_disables_autocommit=true")) {
			execute(application, () -> {
				long version = Long.parseLong(application.query("SELECT version FROM mutex_lock"));
				application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
					.executeWithoutResult((status) -> write(application));
				assertThat(application.query("SELECT version FROM mutex_lock")).isEqualTo(version + 1 + "");
			});
			application.bean(Jobs.class).recorded();
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(application.effects()).isEqualTo(2);
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> execute(application, () -> {
				FencedTransactionTests.overtake(application, "key");
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
						.executeWithoutResult((status) -> write(application)));
			}));
			assertThat(application.effects()).isEqualTo(3);
		}
	}

	@Test
	void jpaIsFlushedBeforeTheCheck() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.POSTGRESQL.newUrl(),
				JpaBeans.class, "spring.jpa.hibernate.ddl-auto=create")) {
			execute(application, () -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
				.executeWithoutResult((status) -> persist(application, 1)));
			assertThat(application.query("SELECT COUNT(*) FROM note")).isEqualTo("1");
			execute(application,
					() -> assertThatExceptionOfType(DataIntegrityViolationException.class)
						.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
							.executeWithoutResult((status) -> persist(application, 1))));
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> execute(application, () -> {
				FencedTransactionTests.overtake(application, "key");
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
						.executeWithoutResult((status) -> persist(application, 2)));
			}));
			assertThat(application.query("SELECT COUNT(*) FROM note")).isEqualTo("1");
		}
	}

	private static void persist(TransactionalApplication application, int id) {
		Note note = new Note();
		note.id = id;
		application.bean(EntityManager.class).persist(note);
	}

	@ParameterizedTest
	@EnumSource
	void databaseBesideTheLocksIsGuardedByItsTable(Stores store, @TempDir Path directory) throws SQLException {
		try (TransactionalApplication application = beside(store, directory)) {
			execute(application, () -> {
				application.transaction().executeWithoutResult((status) -> write(application));
				assertThat(application.query("SELECT resource FROM mutex_fence")).isEqualTo("key");
				JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
				jdbc.update("INSERT INTO effect (unit) VALUES ('auto')");
				// nothing changes the row but later grants
				application.transaction(Connection.TRANSACTION_REPEATABLE_READ)
					.executeWithoutResult((status) -> write(application));
				registerLater(application);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> write(application)));
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> jdbc.update("INSERT INTO effect (unit) VALUES ('stale')"));
			});
			assertThat(application.effects()).isEqualTo(3);
		}
	}

	@Test
	void innerTransactionBesideAnOuterSnapshotIsRefused(@TempDir Path directory) throws SQLException {
		try (TransactionalApplication application = beside(Stores.POSTGRESQL, directory)) {
			TransactionTemplate inner = application.transaction();
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			execute(application, () -> application.transaction(Connection.TRANSACTION_REPEATABLE_READ)
				.executeWithoutResult((status) -> {
					write(application);
					assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> inner.executeWithoutResult((begun) -> write(application)))
						.withMessageContaining("READ COMMITTED");
				}));
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void readOnlyTransactionIsCheckedUnlessTheDatabaseEnforcesIt(Stores store, @TempDir Path directory)
			throws SQLException {
		try (TransactionalApplication application = beside(store, directory)) {
			TransactionTemplate readOnly = application.transaction();
			readOnly.setReadOnly(true);
			execute(application, () -> {
				registerLater(application);
				// whether the server is told, and refuses the write itself, is up to the
				// driver
				assertThatThrownBy(() -> readOnly.executeWithoutResult((status) -> write(application)))
					.isInstanceOfAny(StaleFencingTokenException.class, DataAccessException.class);
				if (store == Stores.POSTGRESQL) {
					assertThat(readOnly.<Integer>execute((status) -> application.bean(JdbcTemplate.class)
						.queryForObject("SELECT COUNT(*) FROM effect", Integer.class))).isZero();
				}
			});
			assertThat(application.effects()).isZero();
		}
	}

	private static TransactionalApplication beside(Stores store, Path directory) throws SQLException {
		return TransactionalApplication.start(store.newUrl(), Beans.class, "mutex.provider=file",
				"mutex.file.directory=" + directory, "mutex.fenced.jdbc.enabled=true");
	}

	private static void registerLater(TransactionalApplication application) {
		Lease lease = Leases.current().orElseThrow();
		application.bean(JdbcFenceGuard.class)
			.register(new Fence(lease.key(), lease.key(), new FencingToken(lease.token().value() + 1), "f".repeat(32),
					true));
	}

	@Test
	void eachDatabaseHasItsGuard() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.H2.newUrl(),
				SecondDatabase.class)) {
			TransactionTemplate second = new TransactionTemplate(
					new JdbcTransactionManager(application.bean(Second.class).dataSource()));
			JdbcTemplate jdbc = new JdbcTemplate(application.bean(Second.class).dataSource());
			jdbc.execute("CREATE TABLE copy (id int)");
			execute(application, () -> {
				second.executeWithoutResult((status) -> jdbc.update("INSERT INTO copy VALUES (1)"));
				Lease lease = Leases.current().orElseThrow();
				application.bean(Second.class)
					.guard()
					.register(
							new Fence("key", "key", new FencingToken(lease.token().value() + 1), "f".repeat(32), true));
				application.transaction().executeWithoutResult((status) -> write(application));
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(jdbc.queryForObject("SELECT COUNT(*) FROM copy", Integer.class)).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "H2" })
	void declaredLevelThatCannotBeConfirmedIsRefusedAtStartUp(Stores store) {
		assertThatThrownBy(() -> TransactionalApplication.start(store.newUrl(), RepeatableBeans.class)).rootCause()
			.isInstanceOf(MutexConfigurationException.class)
			.hasMessageContaining("REPEATABLE READ")
			.hasMessageContaining("confirmed");
	}

	@Test
	void defaultLevelThatCannotBeConfirmedIsRefusedBeforeTheWork() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.POSTGRESQL.newUrl(),
				Beans.class, "spring.datasource.hikari.transaction-isolation=TRANSACTION_SERIALIZABLE")) {
			boolean[] entered = new boolean[1];
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> application.bean(Jobs.class).fenced(() -> entered[0] = true))
				.withMessageContaining("SERIALIZABLE");
			assertThat(entered[0]).isFalse();
			// inside, it is found at the commit
			execute(application,
					() -> assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
							.executeWithoutResult((status) -> write(application)))
						.withMessageContaining("SERIALIZABLE"));
			assertThat(application.effects()).isZero();
		}
	}

	private static void write(TransactionalApplication application) {
		application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('work')");
	}

	private static void execute(TransactionalApplication application, Runnable work) {
		application.bean(MutexTemplate.class).execute(LockRequest.of("key"), (lease) -> {
			work.run();
			return "";
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Jobs jobs(JdbcTemplate jdbc) {
			return new Jobs(jdbc);
		}

	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRun(key = "recorded", per = "forever")
		@Transactional
		void recorded() {
			this.jdbc.update("INSERT INTO effect (unit) VALUES ('recorded')");
		}

		@Fenced("fenced")
		@Transactional
		void fenced(Runnable work) {
			work.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyBeans extends Beans {

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(new LazyConnectionDataSourceProxy(dataSource));
		}

		@Bean
		JdbcTemplate jdbcTemplate(JdbcTransactionManager transactionManager) {
			return new JdbcTemplate(Objects.requireNonNull(transactionManager.getDataSource()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	@EntityScan(basePackageClasses = FencedDatabaseTests.class)
	static class JpaBeans extends Beans {

	}

	@Entity(name = "note")
	static class Note {

		@Id
		private int id;

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondDatabase {

		@Bean
		Second second() {
			DataSource dataSource = new DriverManagerDataSource(Stores.H2.newUrl());
			JdbcSchema.create(dataSource, JdbcSettings.defaults());
			return new Second(dataSource, new JdbcFenceGuard(dataSource, "test", JdbcSettings.defaults()));
		}

		@Bean
		JdbcFenceGuard secondGuard(Second second) {
			return second.guard();
		}

	}

	record Second(DataSource dataSource, JdbcFenceGuard guard) {

	}

	@Configuration(proxyBeanMethods = false)
	static class RepeatableBeans {

		@Bean
		Repeatable repeatable() {
			return new Repeatable();
		}

	}

	static class Repeatable {

		@Fenced("repeatable")
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		void run() {
		}

	}

}
