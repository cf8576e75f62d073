package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import io.mutex.Acquisition;
import io.mutex.Fence;
import io.mutex.LockProvider.Grant;
import io.mutex.StaleFencingTokenException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a guard tells the database about the transactions that it confirms.
 */
class TransactionLimitTests {

	private static final String POSTGRES_IDLE = "SHOW idle_in_transaction_session_timeout";

	private static final String MARIADB_IDLE = "SELECT @@SESSION.idle_write_transaction_timeout";

	private static final String MARIADB_WAIT = "SELECT @@SESSION.innodb_lock_wait_timeout";

	private final String key = Requests.newKey();

	private final Fence strict = Fences.of(this.key, 1);

	private final Fence onWrite = Fences.onWrite(this.key + "-on-write", 1);

	private Fence lockRow = this.strict;

	@Test
	void postgresEndsATransactionThatIsIdleForTheRestOfTheLease() throws SQLException {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.POSTGRESQL);
		try (JdbcLockProvider locks = database.provider();
				JdbcFenceGuard table = database.guard();
				Connection connection = database.begin()) {
			JdbcFenceGuard lockRows = prepare(locks, table);
			for (Check check : new Check[] { (remaining) -> table.confirm(connection, this.strict, remaining),
					(remaining) -> table.confirm(connection, this.onWrite, remaining),
					(remaining) -> lockRows.confirm(connection, this.lockRow, remaining) }) {
				check.confirm(Duration.ofNanos(60_000_000_001L));
				assertThat(Fences.query(connection, POSTGRES_IDLE)).isEqualTo("60001ms");
				check.confirm(null);
				assertThat(Fences.query(connection, POSTGRES_IDLE)).isEqualTo("60001ms");
				check.confirm(Duration.ofSeconds(90));
				assertThat(Fences.query(connection, POSTGRES_IDLE)).as("the shorter of two").isEqualTo("60001ms");
				check.confirm(Duration.ofSeconds(50));
				assertThat(Fences.query(connection, POSTGRES_IDLE)).isEqualTo("50s");
				connection.commit();
				assertThat(Fences.query(connection, POSTGRES_IDLE)).isEqualTo("0");
				check.confirm(null);
				assertThat(Fences.query(connection, POSTGRES_IDLE)).isEqualTo("0");
				connection.rollback();
			}
		}
	}

	@Test
	void limitIsNeverZeroWhichWouldBeNone() {
		assertThat(TransactionLimits.idleMillis(Duration.ZERO)).isOne();
		assertThat(TransactionLimits.idleMillis(Duration.ofNanos(1))).isOne();
		assertThat(TransactionLimits.idleMillis(Duration.ofSeconds(-1))).isOne();
		TransactionLimits limits = new TransactionLimits(JdbcPlatform.MARIADB, TestDatabase.impatient());
		assertThat(limits.text(Duration.ZERO)).contains("innodb_lock_wait_timeout = 1,").contains("LEAST(1,");
		assertThat(limits.text(Duration.ofMillis(1001))).contains("LEAST(2,");
		assertThat(limits.text(null)).doesNotContain("idle");
	}

	@ParameterizedTest
	@ValueSource(strings = { "useServerPrepStmts=false", "useServerPrepStmts=true" })
	void sessionOfMariaDbIsLimitedAndRestored(String option) throws SQLException {
		TestDatabase database = TestDatabase.shared(JdbcPlatform.MARIADB).with(option);
		try (JdbcLockProvider locks = database.provider();
				JdbcFenceGuard table = database.guard();
				Connection connection = database.begin()) {
			JdbcFenceGuard lockRows = prepare(locks, table);
			String wait = Fences.query(connection, MARIADB_WAIT);
			for (Check check : new Check[] { (remaining) -> table.confirm(connection, this.strict, remaining),
					(remaining) -> table.confirm(connection, this.onWrite, remaining),
					(remaining) -> lockRows.confirm(connection, this.lockRow, remaining) }) {
				check.confirm(null);
				assertThat(Fences.query(connection, MARIADB_IDLE)).isEqualTo("0");
				check.confirm(Duration.ofMillis(60_001));
				assertThat(Fences.query(connection, MARIADB_IDLE)).isEqualTo("61");
				check.confirm(Duration.ofSeconds(90));
				assertThat(Fences.query(connection, MARIADB_IDLE)).as("the shorter of two").isEqualTo("61");
				assertThat(Fences.query(connection, MARIADB_WAIT)).isEqualTo("1");
				connection.commit();
				table.restore(connection);
				table.restore(connection);
				assertThat(Fences.query(connection, MARIADB_IDLE)).isEqualTo("0");
				assertThat(Fences.query(connection, MARIADB_WAIT)).isEqualTo(wait).isNotEqualTo("1");
			}
			table.register(Fences.of(this.key, 2));
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> table.confirm(connection, this.strict, Duration.ofSeconds(60)));
			connection.rollback();
			table.restore(connection);
			assertThat(Fences.query(connection, MARIADB_IDLE)).isEqualTo("0");
			assertThat(Fences.query(connection, MARIADB_WAIT)).isEqualTo(wait);
		}
	}

	@Test
	void connectionWhoseSessionCannotBeRestoredIsGivenUp() throws SQLException {
		TestDatabase database = TestDatabase.of(JdbcPlatform.MARIADB);
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			guard.register(this.strict);
			guard.confirm(connection, this.strict, Duration.ofSeconds(60));
			String id = Fences.query(connection, "SELECT CONNECTION_ID()");
			database.execute("KILL " + id);
			guard.restore(connection);
			assertThat(connection.isClosed()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void registrationIsNotBlockedByATransactionThatStopped(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = new JdbcFenceGuard(database.dataSource(), "test",
				JdbcSettings.defaults().withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(90)));
				Connection stopped = database.begin()) {
			guard.register(this.strict);
			guard.confirm(stopped, this.strict, Duration.ofMillis(10));
			guard.register(Fences.of(this.key, 2));
			assertThatExceptionOfType(SQLException.class).isThrownBy(stopped::commit);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void takeOverIsNotBlockedByATransactionThatStopped(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection stopped = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant stale = Requests.take(locks, Requests.request(this.key, null, Duration.ofMillis(10)));
			guard.confirm(stopped, Fences.of(stale), Duration.ofMillis(10));
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> locks.acquire(Requests.request(this.key)) instanceof Acquisition.Granted);
			assertThatExceptionOfType(SQLException.class).isThrownBy(stopped::commit);
		}
	}

	private JdbcFenceGuard prepare(JdbcLockProvider locks, JdbcFenceGuard table) {
		table.register(this.strict);
		this.lockRow = Fences.of(Requests.take(locks, this.key));
		return JdbcFenceGuard.of(locks);
	}

	@FunctionalInterface
	private interface Check {

		void confirm(@Nullable Duration remaining) throws SQLException;

	}

}
