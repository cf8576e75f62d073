package io.mutex.transaction;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for transactions that end in other ways than at once and as a whole: at a
 * savepoint, with several runs, with a condition, in a commit that fails early, and on a
 * thread of the starter.
 */
class TransactionEndTests {

	@ParameterizedTest
	@EnumSource
	void workThatTheCallerRollsBackToItsSavepointIsNotRecorded(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction()
				.executeWithoutResult(
						(status) -> assertThatIllegalStateException().isThrownBy(() -> nested(application, () -> {
							application.bean(Jobs.class).run("one");
							throw new IllegalStateException("after the work");
						})));
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
			assertThat(application.held()).isZero();
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void workBeforeASavepointStaysDone(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).run("one");
				Object savepoint = status.createSavepoint();
				application.bean(Jobs.class).run("two");
				status.rollbackToSavepoint(savepoint);
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.query("SELECT status FROM mutex_run WHERE lock_key = 'one'")).isEqualTo("D");
			assertThat(application.query("SELECT status FROM mutex_run WHERE lock_key = 'two'")).isEqualTo("F");
		}
	}

	@ParameterizedTest
	@EnumSource
	void endOfNestedWorkIsNotTheEndOfTheTransaction(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction()
				.executeWithoutResult(
						(status) -> assertThatIllegalStateException().isThrownBy(() -> nested(application, () -> {
							application.bean(Jobs.class).run("one");
							nested(application, () -> {
							});
							application.bean(Jobs.class).run("one");
							throw new IllegalStateException("after the nested work");
						})));
			assertThat(application.outcomes()).containsExactly(Outcome.SKIPPED_DONE, Outcome.FAILED);
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
		}
	}

	private static void nested(TransactionalApplication application, Runnable work) {
		TransactionTemplate template = application.transaction();
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		template.executeWithoutResult((status) -> work.run());
	}

	@Test
	void transactionThatRecordsSeveralRunsLeavesItsSessionAsItWas() throws SQLException {
		try (TransactionalApplication application = start(Stores.MARIADB)) {
			String before = limits(application);
			for (int round = 0; round < 2; round++) {
				String suffix = "-" + round;
				application.transaction().executeWithoutResult((status) -> {
					application.bean(Jobs.class).run("one" + suffix);
					application.bean(Jobs.class).run("two" + suffix);
				});
			}
			assertThat(application.records()).isEqualTo(4);
			assertThat(limits(application)).isEqualTo(before);
		}
	}

	private static String limits(TransactionalApplication application) {
		return application.bean(JdbcTemplate.class)
			.queryForMap("SELECT @@SESSION.innodb_lock_wait_timeout w, @@SESSION.idle_write_transaction_timeout i")
			.toString();
	}

	@ParameterizedTest
	@EnumSource
	void conditionThatSawWhatIsRolledBackRecordsNothing(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('result')");
				application.bean(Jobs.class).unlessThere();
				assertThat(application.records()).isZero();
				status.setRollbackOnly();
			});
			assertThat(application.statuses()).isEmpty();
			assertThat(application.held()).isZero();
			application.bean(Jobs.class).unlessThere();
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED, Outcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void conditionThatSawWhatIsCommittedIsRecordedWithIt(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('result')");
				application.bean(Jobs.class).unlessThere();
				application.bean(Jobs.class).unlessThere();
			});
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsOnly(Outcome.SKIPPED_DONE);
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitThatFailsBeforeTheRecordCommitsNothing(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			Jobs jobs = application.bean(Jobs.class);
			jobs.setBody(
					() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
						@Override
						public void beforeCommit(boolean readOnly) {
							throw new CannotCreateTransactionException("no connection");
						}
					}));
			assertThatExceptionOfType(CannotCreateTransactionException.class).isThrownBy(() -> jobs.run("one"));
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
		}
	}

	@ParameterizedTest
	@EnumSource
	void attemptsOfTheStarterAreRecordedInTheTransaction(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			Jobs jobs = application.bean(Jobs.class);
			AtomicInteger attempts = new AtomicInteger();
			List<String> afterCommit = new CopyOnWriteArrayList<>();
			jobs.setBody(() -> {
				if (attempts.incrementAndGet() == 1) {
					throw new IllegalStateException("first");
				}
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCommit() {
						afterCommit.add(application.statuses());
					}
				});
			});
			assertThatIllegalStateException().isThrownBy(jobs::retried);
			Awaitility.await().untilAsserted(() -> assertThat(afterCommit).containsExactly("D"));
			assertThat(application.effects()).isEqualTo(1);
			assertThat(attempts).hasValue(2);
		}
	}

	private static TransactionalApplication start(Stores store, String... properties) throws SQLException {
		return TransactionalApplication.start(store.newUrl(), Beans.class, properties);
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

		private volatile Runnable body = () -> {
		};

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void setBody(Runnable body) {
			this.body = body;
		}

		@SingleRun(key = "#{#key}", unit = "unit")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void run(String key) {
			work();
		}

		@SingleRun(key = "unless", unit = "unit", unless = "@jobs.there()")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void unlessThere() {
			work();
		}

		public boolean there() {
			return Integer.valueOf(1)
				.equals(this.jdbc.queryForObject("SELECT COUNT(*) FROM effect WHERE unit = 'result'", Integer.class));
		}

		@SingleRun(key = "retried", per = "day", maxRetries = 1, delay = "100ms")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void retried() {
			work();
		}

		private void work() {
			this.jdbc.update("INSERT INTO effect (unit) VALUES ('work')");
			this.body.run();
		}

	}

}
