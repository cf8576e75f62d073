package io.mutex.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;
import io.mutex.MutexException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connections that may only read, break, or are closed.
 */
class GuardedConnectionTests {

	private static final Duration REMAINING = Duration.ofSeconds(20);

	private final Fence fence = Fences.of(Requests.newKey(), 41);

	@ParameterizedTest
	@EnumSource(names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void transactionThatMayOnlyReadNeedsNoConfirmation(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider();
				JdbcFenceGuard table = database.guard();
				Connection connection = database.connect()) {
			JdbcFenceGuard lockRows = JdbcFenceGuard.of(locks);
			Fence stale = Fences.of(Requests.newKey(), 1);
			begin(platform, connection);
			table.confirm(connection, stale, REMAINING);
			table.confirm(connection, Fences.onWrite(stale.resource(), 1), REMAINING);
			lockRows.confirm(connection, stale, REMAINING);
			connection.commit();
			table.restore(connection);
			connection.setReadOnly(false);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> table.confirm(connection, stale, REMAINING));
			connection.rollback();
			table.restore(connection);
		}
	}

	// the driver of MariaDB does not tell the server
	private static void begin(JdbcPlatform platform, Connection connection) throws SQLException {
		connection.setReadOnly(true);
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			if (platform == JdbcPlatform.MARIADB) {
				statement.execute("START TRANSACTION READ ONLY");
			}
			statement.executeQuery("SELECT COUNT(*) FROM mutex_run").close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatIsReadOnlyInNameOnlyIsConfirmed(JdbcPlatform platform) throws SQLException {
		TestDatabase shared = TestDatabase.shared(platform);
		TestDatabase database = switch (platform) {
			case H2, MARIADB -> shared;
			case POSTGRESQL -> shared.with("readOnlyMode=ignore");
			case MYSQL -> shared.with("readOnlyPropagatesToServer=false");
		};
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			Grant grant = Requests.take(locks, Requests.newKey());
			connection.setReadOnly(true);
			String version = "SELECT version FROM mutex_lock WHERE lock_key = '" + grant.key() + "'";
			String before = Fences.query(connection, version);
			JdbcFenceGuard.of(locks).confirm(connection, Fences.of(grant), REMAINING);
			assertThat(connection.isReadOnly()).isEqualTo(platform != JdbcPlatform.H2);
			connection.commit();
			if (Fences.query(connection, version).equals(before)) {
				// newer drivers tell the server, and then nothing can be written
				assertThat(platform).isEqualTo(JdbcPlatform.MARIADB);
				assertThatExceptionOfType(SQLException.class).isThrownBy(() -> {
					try (Statement statement = connection.createStatement()) {
						statement.executeUpdate("UPDATE mutex_lock SET version = version + 1");
					}
				}).satisfies((refusal) -> assertThat(refusal.getErrorCode()).isEqualTo(1792));
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("a registration whose answer was lost is asked for again")
	void registrationWhoseAnswerWasLostIsAskedForAgain(JdbcPlatform platform) {
		TestDatabase database = TestDatabase.shared(platform);
		Losing answers = new Losing(database.dataSource());
		try (JdbcFenceGuard guard = TestDatabase.guard(answers)) {
			guard.register(Fences.of(this.fence.resource(), 40));
			answers.lose(1);
			guard.register(this.fence);
			guard.register(this.fence);
			answers.lose(Integer.MAX_VALUE);
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> guard.register(this.fence))
				.withMessageContaining("jdbc guard could not register a fencing token of key '" + this.fence.key())
				.withMessageContaining("the outcome is unknown");
			answers.lose(0);
			guard.revoke(this.fence.key(), new FencingToken(50), Fences.newNonce());
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void registrationOutlivesItsConnections(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.of(platform);
		try (JdbcFenceGuard guard = database.guard()) {
			guard.register(this.fence);
			if (platform == JdbcPlatform.POSTGRESQL) {
				database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
						+ " WHERE datname = current_database() AND pid <> pg_backend_pid()");
			}
			else {
				String id = database.query("SELECT MAX(ID) FROM information_schema.PROCESSLIST"
						+ " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()");
				database.execute("KILL " + id);
			}
			guard.register(Fences.of(this.fence.resource(), 42));
		}
	}

	@ParameterizedTest
	@EnumSource
	void closedConnectionAndClosedGuardFail(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		JdbcFenceGuard guard = database.guard();
		guard.register(this.fence);
		Connection connection = database.begin();
		connection.close();
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> guard.confirm(connection, this.fence, REMAINING));
		guard.restore(connection);
		guard.close();
		guard.close();
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> guard.register(this.fence));
	}

	@ParameterizedTest
	@EnumSource
	void guardWithoutItsTableSaysHowToMakeIt(JdbcPlatform platform) {
		TestDatabase database = TestDatabase.empty(platform);
		try (JdbcFenceGuard guard = database.guard()) {
			assertThatExceptionOfType(MissingTableException.class).isThrownBy(guard::check)
				.satisfies((ex) -> assertThat(ex.getTable()).isEqualTo("mutex_fence"));
			assertThatExceptionOfType(MissingTableException.class).isThrownBy(() -> guard.register(this.fence));
			JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
			guard.check();
			guard.register(this.fence);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void guardNeedsANamespace(String namespace) {
		DataSource dataSource = TestDatabase.shared(JdbcPlatform.H2).dataSource();
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> new JdbcFenceGuard(dataSource, namespace, JdbcSettings.defaults()))
			.withMessageContaining("mutex.namespace");
	}

	/**
	 * A database whose answers to writes get lost on the way.
	 */
	private static final class Losing extends AbstractDataSource {

		private final AtomicInteger left = new AtomicInteger();

		private final DataSource target;

		Losing(DataSource target) {
			this.target = target;
		}

		void lose(int answers) {
			this.left.set(answers);
		}

		@Override
		public Connection getConnection() throws SQLException {
			return proxy(Connection.class, this.target.getConnection());
		}

		@Override
		public Connection getConnection(String username, String password) {
			throw new UnsupportedOperationException();
		}

		private <T> T proxy(Class<T> type, Object target) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(proxy, method, arguments) -> {
						try {
							Object result = method.invoke(target, arguments);
							if (method.getName().startsWith("execute")
									&& this.left.getAndUpdate((count) -> Math.max(0, count - 1)) > 0) {
								throw new SQLException("the connection broke", "08006");
							}
							return (result instanceof PreparedStatement) ? proxy(PreparedStatement.class, result)
									: result;
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					}));
		}

	}

}
