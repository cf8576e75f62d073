package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

import io.mutex.FencingToken;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.StaleFencingTokenException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
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
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Fenced calls inside a transaction of their caller: the lease is held, renewed and
 * checked until that one ends.
 */
class JoinedFencedTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("C77 the key of a fenced call is held until the end of the caller's transaction")
	void leaseIsKeptUntilTheTransactionEnds(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store, "mutex.fenced.lease=1s")) {
			application.transaction().executeWithoutResult((status) -> {
				FencingToken first = application.bean(Accounts.class).post("a", null);
				long expires = expires(application);
				assertThat(Leases.current()).isEmpty();
				Awaitility.await().until(() -> expires(application) > expires + 1_000_000);
				assertThat(application.bean(Accounts.class).plain("a", null)).isEqualTo(first);
				assertThat(execute(application, "account:a")).isEqualTo(first);
			});
			assertThat(application.effects()).isEqualTo(3);
			assertThat(application.held()).isZero();
			assertThat(application.engine().leases()).isEmpty();
			assertThat(Leases.find("account:a")).isEmpty();
		}
	}

	private static long expires(TransactionalApplication application) {
		return Long.parseLong(application.query("SELECT expires_at FROM mutex_lock"));
	}

	private static FencingToken execute(TransactionalApplication application, String key) {
		return application.bean(MutexTemplate.class).execute(LockRequest.of(key), (lease) -> {
			application.bean(JdbcTemplate.class).update("INSERT INTO effect (unit) VALUES ('template')");
			return lease.token();
		});
	}

	@ParameterizedTest
	@EnumSource
	void overtakenCallRollsTheCallerBack(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					application.bean(Accounts.class).plain("a", null);
					FencedTransactionTests.overtake(application, "account:a");
				}));
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> application.transaction().executeWithoutResult((status) -> {
					execute(application, "account:b");
					FencedTransactionTests.overtake(application, "account:b");
				}));
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit <> 'successor'")).isEqualTo("0");
			assertThat(application.engine().leases()).isEmpty();
			assertThat(Leases.find("account:a")).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	void rollBackAndFailureFreeTheKeyWithTheTransaction(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Accounts.class).post("a", null);
				assertThat(application.held()).isEqualTo(1);
				status.setRollbackOnly();
			});
			assertThat(application.held()).isZero();
			application.transaction().executeWithoutResult((status) -> {
				assertThatIllegalStateException().isThrownBy(() -> application.bean(Accounts.class).failing("b"));
				assertThat(application.held()).isEqualTo(1);
			});
			assertThat(application.held()).isZero();
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void requiresNewIsATransactionOfItsOwn(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Accounts.class).requiresNew("a", null);
				assertThat(application.held()).isZero();
				status.setRollbackOnly();
			});
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void reentryInAnInnerTransactionIsCheckedWithThatOne(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			application.transaction().executeWithoutResult((status) -> {
				application.bean(Accounts.class).plain("a", null);
				inNew(application, () -> application.bean(Accounts.class).plain("a", null));
				assertThat(application.held()).isEqualTo(1);
				FencedTransactionTests.overtake(application, "account:a");
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> inNew(application, () -> application.bean(Accounts.class).plain("a", null)));
				status.setRollbackOnly();
			});
			assertThat(application.query("SELECT COUNT(*) FROM effect WHERE unit <> 'successor'")).isEqualTo("1");
			assertThat(application.engine().leases()).isEmpty();
		}
	}

	private static void inNew(TransactionalApplication application, Runnable work) {
		TransactionTemplate template = application.transaction();
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		template.executeWithoutResult((status) -> work.run());
	}

	@ParameterizedTest
	@EnumSource
	void callersAboveReadCommittedAreRefusedUnlessNobodyChecks(Stores store) throws SQLException {
		try (TransactionalApplication application = start(store)) {
			TransactionTemplate transaction = application.transaction(Connection.TRANSACTION_REPEATABLE_READ);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> transaction
					.executeWithoutResult((status) -> application.bean(Accounts.class).plain("a", null)))
				.withMessageContaining("READ COMMITTED");
			assertThat(application.query("SELECT COUNT(*) FROM mutex_lock")).isEqualTo("0");
			transaction.executeWithoutResult((status) -> application.bean(Accounts.class).unfenced("a"));
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	@Test
	void callThatReturnsAStageHoldsTheKeyUntilTheTransactionEnds() throws SQLException {
		try (TransactionalApplication application = start(Stores.H2)) {
			application.transaction().executeWithoutResult((status) -> {
				CompletableFuture<String> stage = new CompletableFuture<>();
				CompletableFuture<String> result = application.bean(Accounts.class).later("a", stage);
				assertThat(application.held()).isEqualTo(1);
				stage.complete("done");
				assertThat(result.join()).isEqualTo("done");
				assertThat(application.held()).isEqualTo(1);
			});
			Awaitility.await().until(() -> application.held() == 0);
			assertThat(application.effects()).isEqualTo(1);
		}
	}

	private static TransactionalApplication start(Stores store, String... properties) throws SQLException {
		return TransactionalApplication.start(store.newUrl(), Beans.class, properties);
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Accounts accounts(JdbcTemplate jdbc) {
			return new Accounts(jdbc);
		}

	}

	static class Accounts {

		private final JdbcTemplate jdbc;

		Accounts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		private FencingToken work(String id, FencingToken token) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
			return token;
		}

		@Fenced("account:#{#id}")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		FencingToken post(String id, FencingToken token) {
			return work(id, token);
		}

		@Fenced("account:#{#id}")
		FencingToken plain(String id, FencingToken token) {
			return work(id, token);
		}

		@Fenced("account:#{#id}")
		void failing(String id) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
			throw new IllegalStateException("no");
		}

		@Fenced("account:#{#id}")
		@Transactional(propagation = Propagation.REQUIRES_NEW, isolation = Isolation.READ_COMMITTED)
		FencingToken requiresNew(String id, FencingToken token) {
			return work(id, token);
		}

		@Fenced(key = "account:#{#id}", fencing = Fencing.NONE)
		void unfenced(String id) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
		}

		@Fenced("account:#{#id}")
		CompletableFuture<String> later(String id, CompletableFuture<String> stage) {
			this.jdbc.update("INSERT INTO effect (unit) VALUES (?)", id);
			return stage;
		}

	}

}
