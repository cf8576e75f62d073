package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.mutex.Acquisition;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Rows that a transaction of somebody else keeps locked.
 */
class LockedRowTests {

	@ParameterizedTest
	@EnumSource
	@DisplayName("J6 a locked row is answered, not waited for without end")
	void acquisitionOfALockedRowIsHeld(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider provider = database.provider()) {
			Grant grant = Requests.take(provider, Requests.request(Requests.newKey(), "u1"));
			provider.release(grant.key(), grant.nonce(), false);
			try (Connection other = lock(database, grant.key())) {
				assertThat(provider.acquire(Requests.request(grant.key(), "u2")))
					.isEqualTo(new Acquisition.Held(null, null, Duration.ZERO));
				other.rollback();
			}
			Requests.take(provider, Requests.request(grant.key(), "u2"));
		}
	}

	@ParameterizedTest
	@EnumSource
	void renewalOfALockedRowIsBusyAndTheOthersAreRenewed(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider provider = database.provider()) {
			Grant locked = Requests.take(provider, Requests.newKey());
			Grant free = Requests.take(provider, Requests.newKey());
			Grant foreign = new Grant(locked.key(), free.nonce(), free.token(), free.ttl());
			try (Connection other = lock(database, locked.key())) {
				assertThat(provider.renew(List.of(locked, free, foreign))).containsExactly(Renewal.BUSY,
						Renewal.RENEWED, Renewal.LOST);
				other.rollback();
			}
			assertThat(provider.renew(List.of(locked, free))).containsOnly(Renewal.RENEWED);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C58 a renewal waits for no connection that an acquisition has")
	void renewalWaitsForNoConnectionThatAnAcquisitionHas(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		Duration patience = Duration.ofSeconds(60);
		ExecutorService threads = Executors.newSingleThreadExecutor();
		try (JdbcLockProvider provider = new JdbcLockProvider(database.dataSource(), "test",
				JdbcSettings.defaults().withPoolSize(1).withTimeouts(patience, patience))) {
			Grant held = Requests.take(provider, Requests.newKey());
			Grant locked = Requests.take(provider, Requests.newKey());
			provider.release(locked.key(), locked.nonce(), true);
			try (Connection other = lock(database, locked.key())) {
				Future<Acquisition> waiting = threads.submit(() -> provider.acquire(Requests.request(locked.key())));
				LockWaits.await(platform, database, waiting);
				assertThat(provider.renew(List.of(held))).containsExactly(Renewal.RENEWED);
				assertThat(waiting).isNotDone();
				other.rollback();
				assertThat(waiting.get()).isInstanceOf(Acquisition.Granted.class);
			}
		}
		finally {
			threads.shutdown();
		}
	}

	@ParameterizedTest
	@EnumSource
	void releaseOfALockedRowFailsAndSaysWhy(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider provider = database.provider()) {
			Grant grant = Requests.take(provider, Requests.newKey());
			try (Connection other = lock(database, grant.key())) {
				assertThatExceptionOfType(MutexException.class)
					.isThrownBy(() -> provider.release(grant.key(), grant.nonce(), true))
					.withMessageContaining("mutex.jdbc.lock-timeout")
					.withMessageContaining(grant.key());
				other.rollback();
			}
			assertThat(provider.lock(grant.key())).isPresent();
		}
	}

	private static Connection lock(TestDatabase database, String key) throws SQLException {
		Connection connection = database.connect();
		connection.setAutoCommit(false);
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT token FROM mutex_lock WHERE namespace = 'test' AND lock_key = ? FOR UPDATE")) {
			statement.setString(1, key);
			statement.executeQuery().close();
		}
		return connection;
	}

}
