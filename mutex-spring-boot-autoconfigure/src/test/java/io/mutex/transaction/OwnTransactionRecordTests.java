package io.mutex.transaction;

import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockProvider;
import io.mutex.annotation.OnInDoubt;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Single runs whose transaction carries the record: what is committed and what is
 * recorded are the same.
 */
class OwnTransactionRecordTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("C47 the record becomes true with the commit of the work, not after it")
	void recordIsCommittedWithTheWork(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			AtomicReference<String> seen = new AtomicReference<>();
			application.bean(Jobs.class).run("a", (unit) -> {
				assertThat(application.records()).isZero();
				afterCommit(() -> seen.set(application.records() + " " + application.held()));
			});
			assertThat(seen.get()).isEqualTo("1 0");
			assertThat(application.outcomes()).containsExactly(Outcome.EXECUTED);
			application.bean(Jobs.class).run("a", (unit) -> {
			});
			assertThat(application.outcomes()).containsExactly(Outcome.EXECUTED, Outcome.SKIPPED_DONE);
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.engine().leases()).isEmpty();
			assertThat(application.query("SELECT COUNT(*) FROM mutex_run r JOIN mutex_lock l ON l.lock_key = r.lock_key"
					+ " AND l.token = r.token AND l.nonce = r.nonce AND l.owner_info = r.owner_info"
					+ " AND l.acquired_at = r.began_at AND l.kept_until = r.kept_until AND r.attempt = 1"
					+ " AND r.error IS NULL AND r.ended_at >= r.began_at"))
				.isEqualTo("1");
		}
	}

	@ParameterizedTest
	@EnumSource
	void rollbackOnlyAfterANormalReturnIsAFailure(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.bean(Jobs.class)
				.run("a", (unit) -> TransactionAspectSupport.currentTransactionStatus().setRollbackOnly());
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
			assertThat(application.runs().get(0).reason()).contains("rolled back");
			application.bean(Jobs.class).run("a", (unit) -> {
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("D");
		}
	}

	@ParameterizedTest
	@EnumSource
	void exceptionRollsBackAndFails(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			assertThatThrownBy(() -> application.bean(Jobs.class).run("a", (unit) -> {
				throw new IllegalStateException("no");
			})).isInstanceOf(IllegalStateException.class);
			assertThat(application.effects()).isZero();
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitAfterACheckedExceptionLeavesNoRecord(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			assertThatIOException().isThrownBy(() -> application.bean(Jobs.class).checked("a"));
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
		}
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void commitThatFailsLeavesNoRecord(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application
				.execute("ALTER TABLE effect ADD CONSTRAINT once UNIQUE (checked) DEFERRABLE INITIALLY DEFERRED");
			application.execute("INSERT INTO effect VALUES ('other', 'a')");
			assertThatThrownBy(
					() -> application.bean(Jobs.class)
						.run("a",
								(unit) -> application.bean(JdbcTemplate.class)
									.update("UPDATE effect SET checked = 'a' WHERE unit = 'a'")))
				.hasMessageContaining("once");
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("F");
			assertThat(application.held()).isZero();
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void leaseThatAnotherHasTakenRefusesTheCommit(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			LockProvider provider = application.bean(LockProvider.class);
			assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> application.bean(Jobs.class)
				.run("a", (unit) -> provider.forceRelease(Leases.current().orElseThrow().key())));
			assertThat(application.effects()).isZero();
			assertThat(application.records()).isZero();
			assertThat(application.statuses()).isEqualTo("X");
			assertThat(application.outcomes()).containsExactly(Outcome.LEASE_LOST);
			application.bean(Jobs.class).run("a", (unit) -> {
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("D");
		}
	}

	@ParameterizedTest
	@EnumSource
	void requiresNewMethodAndClassAndSubclassedAnnotationsDoIt(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			AtomicReference<String> seen = new AtomicReference<>("");
			Consumer<String> note = (unit) -> afterCommit(
					() -> seen.accumulateAndGet(unit + application.records(), String::concat));
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Jobs.class).requiresNew("a", note);
				status.setRollbackOnly();
			});
			application.bean(ClassLevel.class).run("b", note);
			assertThat(seen.get()).isEqualTo("a1b2");
			assertThat(application.effects()).isEqualTo(2);
		}
	}

	@ParameterizedTest
	@EnumSource
	void readOnlyAndNoTransactionAreRecordedAfterTheRun(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			AtomicReference<String> seen = new AtomicReference<>("");
			application.bean(Jobs.class)
				.readOnly("a", (unit) -> afterCommit(() -> seen.set("" + application.records())));
			assertThat(seen.get()).isEqualTo("0");
			application.bean(Jobs.class).plain("b", (unit) -> {
			});
			assertThat(application.statuses()).isEqualTo("DD");
			assertThat(application.outcomes()).containsExactly(Outcome.EXECUTED, Outcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void bodiesLongerThanTheLeaseSucceed(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store, "mutex.single-run.lease=1s")) {
			application.bean(Jobs.class).run("a", (unit) -> {
				String first = application.query("SELECT expires_at FROM mutex_lock");
				org.awaitility.Awaitility.await()
					.until(() -> Long.parseLong(application.query("SELECT expires_at FROM mutex_lock")) > Long
						.parseLong(first) + 1_000_000);
			});
			assertThat(application.effects()).isEqualTo(1);
			assertThat(application.statuses()).isEqualTo("D");
		}
	}

	private static void afterCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
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

		@Bean
		ClassLevel classLevel(JdbcTemplate jdbc) {
			return new ClassLevel(jdbc);
		}

	}

	static class Jobs {

		private final JdbcTemplate jdbc;

		Jobs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void work(String unit, Consumer<String> then) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", unit);
			then.accept(unit);
		}

		@SingleRun(key = "job", unit = "#{#unit}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void run(String unit, Consumer<String> then) {
			work(unit, then);
		}

		@SingleRun(key = "checked", unit = "#{#unit}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void checked(String unit) throws IOException {
			work(unit, (done) -> {
			});
			throw new IOException("checked");
		}

		@SingleRun(key = "requiresNew", unit = "#{#unit}")
		@Transactional(propagation = Propagation.REQUIRES_NEW, isolation = Isolation.READ_COMMITTED)
		void requiresNew(String unit, Consumer<String> then) {
			work(unit, then);
		}

		@SingleRun(key = "readOnly", unit = "#{#unit}")
		@Transactional(readOnly = true)
		void readOnly(String unit, Consumer<String> then) {
			then.accept(unit);
		}

		@SingleRun(key = "plain", unit = "#{#unit}")
		void plain(String unit, Consumer<String> then) {
			work(unit, then);
		}

	}

	@Transactional(isolation = Isolation.READ_COMMITTED)
	static class ClassLevel {

		private final JdbcTemplate jdbc;

		ClassLevel(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRun(key = "class", unit = "#{#unit}", onInDoubt = OnInDoubt.SKIP)
		public void run(String unit, Consumer<String> then) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", unit);
			then.accept(unit);
		}

	}

}
