package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.MutexException;
import io.mutex.annotation.SingleRun;
import io.mutex.interceptor.MutexConfigurationException;
import io.mutex.run.Outcome;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Which methods record in their transaction, and which isolation levels that allows.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionModeTests {

	@Test
	void startUpSaysOfEachMethodWhichModeItHas(CapturedOutput output) throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.H2.newUrl(), ModeBeans.class,
				"logging.level.io.mutex.transaction=info")) {
			assertThat(application.engine()).isNotNull();
			assertThat(output).contains("Modes.own(): in the transaction")
				.contains("Modes.readOnly(): after the run: its transaction is read-only")
				.contains("Modes.notSupported(): after the run: its propagation excludes a transaction")
				.contains("Modes.plain(): after the run: the method is not transactional")
				.doesNotContain("Modes.unrecorded(): in the")
				.doesNotContain("Modes.unrecorded(): after the");
		}
	}

	@Test
	void transactionManagerThatIsCreatedEarlyTakesPartToo() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.H2.newUrl(),
				EarlyManagerBeans.class)) {
			AtomicInteger recorded = new AtomicInteger(-1);
			application.bean(Jobs.class)
				.during(() -> TransactionSynchronizationManager
					.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							recorded.set(application.records());
						}

					}));
			application.bean(Jobs.class).run();
			assertThat(recorded).hasValue(1);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "H2" })
	void declaredLevelThatCannotRecordIsRefusedAtStartUp(Stores store) {
		assertThatThrownBy(() -> TransactionalApplication.start(store.newUrl(), RepeatableReadBeans.class)).rootCause()
			.isInstanceOf(MutexConfigurationException.class)
			.hasMessageContaining("REPEATABLE READ")
			.hasMessageContaining("Isolation.READ_COMMITTED");
	}

	@Test
	void levelThatTheDatabaseHasByDefaultIsRefusedAtTheFirstUse() throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.POSTGRESQL.newUrl(),
				DefaultBeans.class, "spring.datasource.hikari.transaction-isolation=TRANSACTION_SERIALIZABLE")) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> application.bean(Jobs.class).run())
				.withMessageContaining("SERIALIZABLE")
				.withMessageContaining("Isolation.READ_COMMITTED");
			assertThat(application.effects()).isZero();
			assertThat(application.records()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(Isolations.class)
	void bodyLongerThanTheLeaseSucceedsOnMariaDbOrIsRefusedBeforeIt(Isolations isolation) throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(Stores.MARIADB.newUrl(),
				DefaultBeans.class, "mutex.single-run.lease=3s",
				"spring.datasource.hikari.transaction-isolation=" + isolation.name())) {
			boolean snapshots = application.query("SELECT IF(@@innodb_snapshot_isolation, 'ON', 'OFF')").equals("ON");
			boolean fits = !snapshots || isolation.level <= Connection.TRANSACTION_READ_COMMITTED;
			Jobs jobs = application.bean(Jobs.class);
			jobs.during(() -> awaitRenewal(application));
			if (fits) {
				jobs.run();
			}
			else {
				assertThatExceptionOfType(MutexException.class).isThrownBy(jobs::run)
					.withMessageContaining("Isolation.READ_COMMITTED");
			}
			assertThat(application.effects()).isEqualTo(fits ? 1 : 0);
			assertThat(application.records()).isEqualTo(fits ? 1 : 0);
		}
	}

	// beyond the lease that the call began with
	private static void awaitRenewal(TransactionalApplication application) {
		String first = application.query("SELECT expires_at FROM mutex_lock");
		Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.until(() -> Long.parseLong(application.query("SELECT expires_at FROM mutex_lock")) > Long.parseLong(first)
					+ 3_000_000);
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void jpaIsFlushedBeforeTheRecordAndCommittedWithIt(Stores store) throws SQLException {
		try (TransactionalApplication application = TransactionalApplication.start(store.newUrl(), JpaBeans.class,
				"spring.jpa.hibernate.ddl-auto=create", "spring.jpa.open-in-view=false")) {
			Books books = application.bean(Books.class);
			books.add("one", 1);
			assertThat(application.query("SELECT COUNT(*) FROM book")).isEqualTo("1");
			assertThat(application.statuses()).isEqualTo("D");
			// its row is there already, which only the flush at the commit finds out
			assertThatThrownBy(() -> books.add("two", 1)).isInstanceOf(RuntimeException.class);
			assertThat(application.statuses()).isEqualTo("DF");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.EXECUTED, Outcome.FAILED);
			application.transaction().executeWithoutResult((status) -> books.add("two", 2));
			assertThat(application.statuses()).isEqualTo("DD");
			assertThat(Map.of("books", application.query("SELECT COUNT(*) FROM book"))).containsEntry("books", "2");
		}
	}

	enum Isolations {

		TRANSACTION_READ_COMMITTED(Connection.TRANSACTION_READ_COMMITTED),

		TRANSACTION_REPEATABLE_READ(Connection.TRANSACTION_REPEATABLE_READ),

		TRANSACTION_SERIALIZABLE(Connection.TRANSACTION_SERIALIZABLE);

		private final int level;

		Isolations(int level) {
			this.level = level;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyManagerBeans extends DefaultBeans {

		@Bean
		static EarlyPostProcessor earlyPostProcessor(PlatformTransactionManager manager) {
			return new EarlyPostProcessor(manager);
		}

	}

	/** Needs the transaction manager before other post-processors are there. */
	record EarlyPostProcessor(PlatformTransactionManager manager) implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ModeBeans {

		@Bean
		Modes modes() {
			return new Modes();
		}

	}

	static class Modes {

		@SingleRun(key = "own", per = "day")
		@Transactional
		void own() {
		}

		@SingleRun(key = "read-only", per = "day")
		@Transactional(readOnly = true)
		void readOnly() {
		}

		@SingleRun(key = "not-supported", per = "day")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		void notSupported() {
		}

		@SingleRun(key = "plain", per = "day")
		void plain() {
		}

		@SingleRun(key = "unrecorded", per = "none")
		@Transactional
		void unrecorded() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RepeatableReadBeans {

		@Bean
		RepeatableRead job() {
			return new RepeatableRead();
		}

	}

	static class RepeatableRead {

		@SingleRun(key = "repeatable", per = "day")
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DefaultBeans {

		@Bean
		Jobs jobs(JdbcTemplate jdbc) {
			return new Jobs(jdbc);
		}

	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		private Runnable body = () -> {
		};

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		public void during(Runnable body) {
			this.body = body;
		}

		@SingleRun(key = "default", per = "forever")
		@Transactional
		public void run() {
			this.jdbc.update("INSERT INTO effect (unit) VALUES ('a')");
			this.body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	@EntityScan(basePackageClasses = TransactionModeTests.class)
	static class JpaBeans {

		@Bean
		Books books(EntityManager entityManager) {
			return new Books(entityManager);
		}

	}

	static class Books {

		private final EntityManager entityManager;

		Books(EntityManager entityManager) {
			this.entityManager = entityManager;
		}

		@SingleRun(key = "books", unit = "#{#unit}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void add(String unit, int id) {
			Book book = new Book();
			book.id = id;
			this.entityManager.persist(book);
		}

	}

	@Entity(name = "book")
	static class Book {

		@Id
		private int id;

	}

}
