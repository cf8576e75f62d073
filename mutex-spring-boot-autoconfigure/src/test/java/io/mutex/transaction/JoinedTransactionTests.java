package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Single runs that are called inside a transaction of their caller: record, check and
 * release come with its end.
 */
class JoinedTransactionTests {

	private static final Consumer<String> NOTHING = (unit) -> {
	};

	@ParameterizedTest
	@EnumSource
	@DisplayName("C77 the key is held and the run recorded until and with the end of the caller's transaction")
	void endComesWithTheCallersTransaction(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store, "mutex.single-run.lease=1s")) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).run("a", NOTHING);
				String expires = application.query("SELECT expires_at FROM mutex_lock");
				assertThat(application.held()).isEqualTo(1);
				assertThat(application.runs()).isEmpty();
				// it is renewed although the call has returned
				Awaitility.await()
					.until(() -> Long.parseLong(application.query("SELECT expires_at FROM mutex_lock")) > Long
						.parseLong(expires) + 1_000_000);
				assertThat(application.statuses()).isEmpty();
			});
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.EXECUTED);
			assertThat(application.engine().leases()).isEmpty();
			assertThat(Leases.find("job")).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C77 a roll-back of the caller's transaction leaves no record and frees the key")
	void rollbackOfTheCallerIsAFailure(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).run("a", NOTHING);
				status.setRollbackOnly();
			});
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.effects()).isZero();
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C77 a run of the template inside a transaction is recorded with it")
	void templateTakesPartToo(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			LockRequest request = LockRequest.of("job").withUnit(RunUnit.of("a"));
			application.transaction().executeWithoutResult((status) -> {
				assertThat(singleRun(application, request)).isEqualTo(Outcome.EXECUTED);
				assertThat(application.held()).isEqualTo(1);
				assertThat(application.statuses()).isEmpty();
				assertThat(singleRun(application, request)).isEqualTo(Outcome.SKIPPED_DONE);
				status.setRollbackOnly();
			});
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
			application.transaction()
				.executeWithoutResult(
						(status) -> assertThat(singleRun(application, request)).isEqualTo(Outcome.EXECUTED));
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(singleRun(application, request)).isEqualTo(Outcome.SKIPPED_DONE);
			assertThat(Leases.find("job")).isEmpty();
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	private static Outcome singleRun(TransactionalApplication application, LockRequest request) {
		return application.bean(MutexTemplate.class).singleRun(request, (lease) -> "done").outcome();
	}

	@ParameterizedTest
	@EnumSource
	void methodWithoutATransactionOfItsOwnTakesPartToo(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).plain("a", NOTHING);
				assertThat(application.held()).isEqualTo(1);
				status.setRollbackOnly();
			});
			assertThat(application.statuses()).isEqualTo("F");
		}
	}

	@ParameterizedTest
	@EnumSource
	void secondCallOfTheKeyReentersAndFindsTheUnitDone(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).run("a", NOTHING);
				application.bean(Jobs.class).run("a", NOTHING);
				assertThatExceptionOfType(MutexException.class)
					.isThrownBy(() -> application.bean(Jobs.class).run("b", NOTHING))
					.withMessageContaining("held by this call for unit 'a'");
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(application.outcomes()).contains(Outcome.SKIPPED_DONE, Outcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void callAfterAFailureRunsAgainUnderTheSameLease(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			AtomicInteger attempts = new AtomicInteger();
			Consumer<String> body = (unit) -> {
				if (attempts.incrementAndGet() == 1) {
					throw new IllegalStateException("first");
				}
			};
			application.transaction().executeWithoutResult((status) -> {
				assertThatIllegalStateException().isThrownBy(() -> application.bean(Jobs.class).plain("a", body));
				assertThat(application.held()).isEqualTo(1);
				application.bean(Jobs.class).plain("a", body);
			});
			assertThat(attempts).hasValue(2);
			assertThat(application.statuses()).isEqualTo("D");
			assertThat(application.query("SELECT attempt FROM mutex_run")).isEqualTo("1");
		}
	}

	@ParameterizedTest
	@EnumSource
	void failureThatTheCallerSurvivesIsAFailure(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction()
				.executeWithoutResult((status) -> assertThatIllegalStateException()
					.isThrownBy(() -> application.bean(Jobs.class).plain("a", (unit) -> {
						throw new IllegalStateException("no");
					})));
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void requiresNewInsideEndsByItself(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).requiresNew("a", NOTHING);
				assertThat(application.statuses()).isEqualTo("D");
				assertThat(application.held()).isZero();
				status.setRollbackOnly();
			});
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void keyOfASuspendedTransactionIsNotWaitedFor(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				assertThatIllegalStateException().isThrownBy(() -> application.bean(Jobs.class).plain("a", (unit) -> {
					throw new IllegalStateException("no");
				}));
				assertThatExceptionOfType(MutexException.class)
					.isThrownBy(() -> inNew(application, () -> application.bean(Jobs.class).plain("a", NOTHING)))
					.withMessageContaining("suspended");
			});
			assertThat(application.statuses()).isEqualTo("F");
		}
	}

	private static void inNew(TransactionalApplication application, Runnable work) {
		TransactionTemplate template = application.transaction();
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		template.executeWithoutResult((status) -> work.run());
	}

	@ParameterizedTest
	@EnumSource
	void nestedWorkThatIsRolledBackToItsSavepointIsAFailure(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction()
				.executeWithoutResult((status) -> application.bean(Jobs.class)
					.nested("a", (unit) -> TransactionAspectSupport.currentTransactionStatus().setRollbackOnly()));
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
			application.transaction()
				.executeWithoutResult((status) -> application.bean(Jobs.class).nested("a", NOTHING));
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("D");
		}
	}

	@ParameterizedTest
	@EnumSource
	void leaseThatIsLostRollsTheCallerBack(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			assertThatExceptionOfType(LeaseLostException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					application.bean(Jobs.class).run("a", NOTHING);
					application.bean(LockProvider.class).forceRelease("job");
				}));
			assertThat(application.effects()).isZero();
			assertThat(application.records()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.LEASE_LOST);
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void callersAboveReadCommittedAreRefused(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			for (int isolation : new int[] { Connection.TRANSACTION_REPEATABLE_READ,
					Connection.TRANSACTION_SERIALIZABLE }) {
				assertThatExceptionOfType(MutexException.class)
					.isThrownBy(() -> application.transaction(isolation)
						.executeWithoutResult((status) -> application.bean(Jobs.class).plain("a", NOTHING)))
					.withMessageContaining("READ COMMITTED");
			}
			if (store == Stores.MARIADB) {
				assertThatExceptionOfType(MutexException.class)
					.isThrownBy(() -> application.transaction(TransactionDefinition.ISOLATION_DEFAULT)
						.executeWithoutResult((status) -> application.bean(Jobs.class).plain("a", NOTHING)))
					.withMessageContaining("the default of this database");
			}
			assertThat(application.query("SELECT COUNT(*) FROM mutex_lock")).isEqualTo("0");
			assertThat(application.effects()).isZero();
		}
	}

	@Test
	void unknownEndOfTheCallersCommitIsLookedUp() throws SQLException {
		try (TransactionalApplication application = start(Stores.POSTGRESQL)) {
			application.execute("ALTER TABLE effect ADD CONSTRAINT once UNIQUE (unit) DEFERRABLE INITIALLY DEFERRED");
			assertThatThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).run("a", NOTHING);
				application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('a')");
			})).hasMessageContaining("once");
			Awaitility.await().untilAsserted(() -> assertThat(application.statuses()).isEqualTo("F"));
			Awaitility.await().untilAsserted(() -> assertThat(application.engine().leases()).isEmpty());
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
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

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		private void work(String unit, Consumer<String> then) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", unit);
			then.accept(unit);
		}

		@SingleRun(key = "job", unit = "#{#unit}")
		@Transactional
		void run(String unit, Consumer<String> then) {
			work(unit, then);
		}

		@SingleRun(key = "plain", unit = "#{#unit}", waitFor = "1m")
		void plain(String unit, Consumer<String> then) {
			work(unit, then);
		}

		@SingleRun(key = "new", unit = "#{#unit}")
		@Transactional(propagation = Propagation.REQUIRES_NEW, isolation = Isolation.READ_COMMITTED)
		void requiresNew(String unit, Consumer<String> then) {
			work(unit, then);
		}

		@SingleRun(key = "nested", unit = "#{#unit}")
		@Transactional(propagation = Propagation.NESTED)
		void nested(String unit, Consumer<String> then) {
			work(unit, then);
		}

	}

}
