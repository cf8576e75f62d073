package io.mutex.transaction;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockProvider;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Transactions inside protected calls: each is checked before its commit, none releases.
 */
class FencedTransactionTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("C69 a holder that was overtaken cannot commit, and its successor's data stays")
	void overtakenHolderCannotCommit(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			Accounts accounts = application.bean(Accounts.class);
			accounts.post("a", () -> {
			});
			assertThat(application.effects()).isEqualTo(1);
			FencingToken[] successor = new FencingToken[1];
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> accounts.post("a", () -> successor[0] = overtake(application, "account:a")))
				.satisfies((ex) -> {
					assertThat(ex.getResource()).isEqualTo("account:a");
					assertThat(ex.getAccepted()).isEqualTo(successor[0]);
					assertThat(ex.getToken()).isLessThan(successor[0]);
				});
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'a'")).isEqualTo("1");
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'successor'")).isEqualTo("1");
			assertThat(application.bean(Refusals.class).refused).hasSize(1);
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void eachTransactionIsCheckedAndNoneReleases(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.bean(Accounts.class).untransacted("a", () -> {
				TransactionTemplate transaction = application.transaction();
				long version = version(application);
				transaction.executeWithoutResult((status) -> write(application));
				assertThat(version(application)).isEqualTo(version + 1);
				assertThat(application.held()).isEqualTo(1);
				transaction.executeWithoutResult((status) -> {
					write(application);
					inNew(application, () -> write(application));
					assertThat(version(application)).isEqualTo(version + 2);
				});
				assertThat(version(application)).isEqualTo(version + 3);
				transaction.executeWithoutResult((status) -> {
					write(application);
					status.setRollbackOnly();
				});
				assertThat(version(application)).isEqualTo(version + 3);
				assertThat(application.held()).isEqualTo(1);
			});
			assertThat(application.effects()).isEqualTo(3);
			assertThat(application.held()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionsOfAnOvertakenHolderAreRefusedOneByOne(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			assertThatExceptionOfType(LeaseLostException.class)
				.isThrownBy(() -> application.bean(Accounts.class).untransacted("a", () -> {
					TransactionTemplate transaction = application.transaction();
					transaction.executeWithoutResult((status) -> write(application));
					transaction.executeWithoutResult((status) -> {
						overtake(application, "untransacted:a");
						assertThatExceptionOfType(StaleFencingTokenException.class)
							.isThrownBy(() -> inNew(application, () -> write(application)));
						status.setRollbackOnly();
					});
					assertThatExceptionOfType(StaleFencingTokenException.class)
						.isThrownBy(() -> transaction.executeWithoutResult((status) -> write(application)));
				}));
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'work'")).isEqualTo("1");
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitOfASingleRunAfterACheckedExceptionIsChecked(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			Accounts accounts = application.bean(Accounts.class);
			assertThatIOException().isThrownBy(() -> accounts.checked("a", () -> {
			}));
			assertThat(application.effects()).isEqualTo(1);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> accounts.checked("b", () -> overtake(application, "checked")));
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit = 'b'")).isEqualTo("0");
			assertThat(application.outcomes()).containsExactly(Outcome.FAILED, Outcome.LEASE_LOST);
		}
	}

	@Test
	void lostLeaseRefusesATransactionBeforeItHasAConnection() throws SQLException {
		try (TransactionalApplication application = start(Stores.H2, "mutex.interrupt-on-loss=false",
				"spring.datasource.hikari.maximum-pool-size=1")) {
			assertThatExceptionOfType(LeaseLostException.class)
				.isThrownBy(() -> application.bean(Accounts.class).limited("a", () -> {
					Lease lease = Leases.current().orElseThrow();
					Awaitility.await().until(() -> !lease.isValid());
					for (int times = 0; times < 3; times++) {
						assertThatExceptionOfType(LeaseLostException.class)
							.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
								throw new IllegalStateException("it has begun");
							}));
					}
				}));
			application.transaction().executeWithoutResult((status) -> write(application));
		}
	}

	private static long version(TransactionalApplication application) {
		return Long.parseLong(application.query("SELECT version FROM mutex_lock"));
	}

	private static void write(TransactionalApplication application) {
		application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('work')");
	}

	private static void inNew(TransactionalApplication application, Runnable work) {
		TransactionTemplate template = application.transaction();
		template.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
		template.executeWithoutResult((status) -> work.run());
	}

	/** Another process gets the key and writes. */
	static FencingToken overtake(TransactionalApplication application, String key) {
		LockProvider provider = application.bean(LockProvider.class);
		provider.forceRelease(key);
		Acquisition acquired = provider.acquire(new AcquireRequest(key, key, "f".repeat(32),
				new Owner("successor", "host", 1, "main"), Duration.ofMinutes(1), 0, null, 0, 1));
		try {
			application.execute("INSERT INTO effect (unit) VALUES ('successor')");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return new FencingToken(((Acquisition.Granted) acquired).token());
	}

	static TransactionalApplication start(Stores store, String... properties) throws SQLException {
		return TransactionalApplication.start(store.newUrl(), Beans.class, properties);
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Accounts accounts(JdbcTemplate jdbc) {
			return new Accounts(jdbc);
		}

		@Bean
		Refusals refusals() {
			return new Refusals();
		}

	}

	static final class Refusals implements MutexListener {

		final List<StaleFencingTokenException> refused = new CopyOnWriteArrayList<>();

		@Override
		public void refused(Lease lease, StaleFencingTokenException refusal) {
			this.refused.add(refusal);
		}

	}

	static class Accounts {

		private final JdbcTemplate jdbc;

		Accounts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		private void work(String unit, Runnable then) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", unit);
			then.run();
		}

		@Fenced("account:#{#id}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void post(String id, Runnable then) {
			work(id, then);
		}

		@Fenced("untransacted:#{#id}")
		void untransacted(String id, Runnable then) {
			then.run();
		}

		@Fenced(key = "limited:#{#id}", maxHold = "50ms")
		void limited(String id, Runnable then) {
			then.run();
		}

		@SingleRun(key = "checked", unit = "#{#unit}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		void checked(String unit, Runnable then) throws IOException {
			work(unit, then);
			throw new IOException("checked");
		}

	}

}
