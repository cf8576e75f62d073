package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Fence;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The guard whose resources are the rows of the locks: what it changes in transactions of
 * the application, beside every operation on the same row.
 */
class LockRowGuardTests {

	private static final Duration REMAINING = Duration.ofSeconds(20);

	private final String key = Requests.newKey();

	@ParameterizedTest
	@EnumSource
	void grantIsConfirmedUntilItIsReleased(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, this.key);
			Fence fence = Fences.of(grant);
			for (int i = 0; i < 2; i++) {
				guard.confirm(connection, fence, REMAINING);
				guard.confirm(connection, fence, null);
				connection.commit();
			}
			assertThat(locks.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(locks.release(this.key, grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> guard.confirm(connection, fence, REMAINING));
			connection.rollback();
			guard.restore(connection);
		}
	}

	@ParameterizedTest
	@EnumSource
	void grantIsRefusedOnceTheKeyIsTakenOver(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Fence stale = Fences.of(takeExpired(locks, null));
			guard.confirm(connection, stale, REMAINING);
			connection.commit();
			Grant next = Requests.take(locks, this.key);
			FenceTableTests.assertRefused(() -> guard.confirm(connection, stale, REMAINING), stale, next.token());
			connection.rollback();
			guard.confirm(connection, Fences.of(next), REMAINING);
			connection.commit();
			assertThat(locks.forceRelease(this.key).result()).isEqualTo(ForcedRelease.Result.RELEASED);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> guard.confirm(connection, Fences.of(next), REMAINING))
				.satisfies((ex) -> assertThat(ex.getAccepted().value()).isGreaterThan(next.token()));
			connection.rollback();
		}
	}

	@ParameterizedTest
	@EnumSource
	void takeOverIsHeldWhileAConfirmedTransactionIsOpen(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = impatient(database); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			for (@Nullable
			String unit : new String[] { null, "u" }) {
				Fence stale = Fences.of(takeExpired(locks, unit));
				guard.confirm(connection, stale, REMAINING);
				assertThat(locks.acquire(Requests.request(this.key, unit))).isInstanceOf(Acquisition.Held.class);
				connection.commit();
				AcquireRequest next = Requests.request(this.key, unit, Duration.ofMillis(1));
				assertThat(Requests.take(locks, next).token()).isGreaterThan(stale.token().value());
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> guard.confirm(connection, stale, REMAINING));
				connection.rollback();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C70 check and write are one: a take-over waits for the commit")
	void takeOverWaitsForTheCommitOfAConfirmedTransaction(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		for (@Nullable
		String unit : new String[] { null, "u" }) {
			AtomicBoolean ended = new AtomicBoolean();
			try (JdbcLockProvider locks = patient(database); Connection connection = database.begin()) {
				JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
				Fence stale = Fences.of(takeExpired(locks, unit));
				guard.confirm(connection, stale, REMAINING);
				CompletableFuture<Boolean> endedBefore = CompletableFuture.supplyAsync(() -> {
					Grant grant = Requests.take(locks, Requests.request(this.key, unit, Duration.ofMillis(1)));
					assertThat(grant.token()).isGreaterThan(stale.token().value());
					return ended.get();
				});
				LockWaits.await(platform, database, endedBefore);
				ended.set(true);
				connection.commit();
				assertThat(endedBefore.get(1, TimeUnit.MINUTES)).isTrue();
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> guard.confirm(connection, stale, REMAINING));
				connection.rollback();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatIsRolledBackLeavesTheRowAsItWas(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, this.key);
			guard.confirm(connection, Fences.of(grant), REMAINING);
			connection.rollback();
			guard.restore(connection);
			assertThat(connection.isClosed()).as("given up, since its session could not be restored").isFalse();
			assertThat(locks.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(locks.release(this.key, grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void everyOtherOperationWaitsOrIsBusyAndGoesOnAfterTheCommit(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = impatient(database); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, Requests.request(this.key, "u"));
			guard.confirm(connection, Fences.of(grant), REMAINING);
			assertThat(locks.renew(List.of(grant))).containsExactly(Renewal.BUSY);
			assertThat(locks.lock(this.key)).isPresent();
			assertLockTimeout(() -> locks.release(this.key, grant.nonce(), true));
			assertLockTimeout(() -> locks.forceRelease(this.key));
			connection.commit();
			assertThat(locks.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(locks.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			Grant failing = Requests.take(locks, Requests.request(this.key, "v"));
			guard.confirm(connection, Fences.of(failing), REMAINING);
			connection.commit();
			assertThat(locks.fail(failing, "v", "error", Duration.ZERO)).isEqualTo(Settlement.SETTLED);
			guard.restore(connection);
		}
	}

	private static void assertLockTimeout(Runnable operation) {
		assertThatExceptionOfType(MutexException.class).isThrownBy(operation::run)
			.withMessageContaining("mutex.jdbc.lock-timeout");
	}

	@ParameterizedTest
	@EnumSource
	void completionInTheSameTransactionFollowsAConfirmation(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, Requests.request(this.key, "u"));
			guard.confirm(connection, Fences.of(grant), REMAINING);
			assertThat(locks.complete(connection, grant, "u", REMAINING)).isTrue();
			connection.commit();
			locks.restore(connection);
			assertThat(locks.lock(this.key)).isEmpty();
			assertThat(locks.lastSuccess(this.key)).isPresent();
		}
	}

	@Test
	void isolationThatKeepsASnapshotDoesNotFitTheLockRow() {
		try (JdbcLockProvider locks = TestDatabase.shared(JdbcPlatform.POSTGRESQL).provider()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Fence ofLock = Fences.of(this.key, 1);
			Fence ofTable = Fences.of(this.key, "other", 1);
			assertThat(guard.unfitIsolation(ofLock, Connection.TRANSACTION_READ_COMMITTED)).isNull();
			assertThat(guard.unfitIsolation(ofLock, Connection.TRANSACTION_REPEATABLE_READ))
				.isEqualTo("REPEATABLE READ");
			assertThat(guard.unfitIsolation(ofTable, Connection.TRANSACTION_REPEATABLE_READ)).isNull();
		}
	}

	private Grant takeExpired(JdbcLockProvider locks, @Nullable String unit) {
		Grant grant = Requests.take(locks, Requests.request(this.key, unit, Duration.ofMillis(1)));
		Awaitility.await().until(() -> locks.lock(this.key).isEmpty());
		return grant;
	}

	private static JdbcLockProvider impatient(TestDatabase database) {
		return new JdbcLockProvider(database.dataSource(), "test", TestDatabase.impatient());
	}

	private static JdbcLockProvider patient(TestDatabase database) {
		return new JdbcLockProvider(database.dataSource(), "test",
				JdbcSettings.defaults().withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(90)));
	}

}
