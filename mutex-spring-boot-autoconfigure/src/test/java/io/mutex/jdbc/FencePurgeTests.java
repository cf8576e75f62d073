package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

import io.mutex.Fence;
import io.mutex.LockProvider.Grant;
import io.mutex.MutexException;
import io.mutex.Purged;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When a resource is forgotten.
 */
class FencePurgeTests {

	private static final Duration IDLE = Duration.ofDays(90);

	private static final Duration OVER = IDLE.plus(FencePurge.HOLD).plusDays(1);

	private final String namespace = UUID.randomUUID().toString();

	private final String resource = Requests.newKey();

	@ParameterizedTest
	@EnumSource
	void resourceIsForgottenAfterTheRetentionAndTheLongestHold(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = locks(database); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Fence used = Fences.of(this.resource + "-used", "key-a", 41);
			Fence idle = Fences.of(this.resource + "-idle", "key-b", 41);
			guard.register(used);
			guard.register(idle);
			database.letPass(this.namespace, IDLE.plusDays(1));
			assertThat(purge(locks)).as("after the retention alone").isZero();
			guard.confirm(connection, used, Requests.TTL);
			connection.commit();
			database.letPass(this.namespace, FencePurge.HOLD);
			assertThat(purge(locks)).isOne();
			guard.confirm(connection, used, Requests.TTL);
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> guard.confirm(connection, idle, Requests.TTL));
			connection.rollback();
			guard.restore(connection);
		}
	}

	@ParameterizedTest
	@EnumSource
	void guardBesideOtherLocksForgetsItself(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = new JdbcFenceGuard(database.dataSource(), this.namespace, TestDatabase.impatient());
				JdbcLockProvider locks = locks(database)) {
			assertThat(guard.purge(IDLE, null, 10)).isEqualTo(new Purged(0, null));
			guard.register(Fences.of(this.resource + "-1", "key-f", 41));
			guard.register(Fences.of(this.resource + "-2", "key-g", 41));
			database.letPass(this.namespace, OVER);
			assertThat(JdbcFenceGuard.of(locks).purge(IDLE, null, 10)).isEqualTo(new Purged(0, null));
			guard.register(Fences.of(this.resource + "-3", "key-h", 41));
			Purged first = guard.purge(IDLE, null, 2);
			assertThat(first).isEqualTo(new Purged(2, this.resource + "-2"));
			assertThat(guard.purge(IDLE, first.next(), 2)).isEqualTo(new Purged(0, null));
		}
	}

	@ParameterizedTest
	@EnumSource
	void resourceThatIsHeldOrLockedStays(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = locks(database); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, Requests.request("key-c", null, OVER.multipliedBy(2)));
			Fence held = new Fence(this.resource + "-held", "key-c", Fences.of(grant).token(), grant.nonce(), true);
			Fence open = Fences.of(this.resource + "-open", "key-d", 41);
			guard.register(held);
			guard.register(open);
			guard.register(Fences.of(this.resource + "-other", "key-e", 41));
			database.letPass(this.namespace, OVER);
			guard.confirm(connection, open, Requests.TTL);
			assertThat(purge(locks)).as("the other one").isOne();
			connection.rollback();
			guard.restore(connection);
			guard.confirm(connection, held, Requests.TTL);
			connection.rollback();
			guard.restore(connection);
			assertThat(purge(locks)).as("the one that was open").isOne();
			locks.release("key-c", grant.nonce(), false);
			assertThat(purge(locks)).as("the key and the one that was held").isEqualTo(2);
		}
	}

	@ParameterizedTest
	@EnumSource
	void manyResourcesAreForgottenInBatches(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = locks(database)) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			for (int i = 0; i < 7; i++) {
				guard.register(Fences.of(this.resource + "-" + i, "key-f", 41));
			}
			database.letPass(this.namespace, OVER);
			guard.register(Fences.of(this.resource + "-3", "key-f", 42));
			assertThat(purge(locks)).isEqualTo(6);
			assertThat(purge(locks)).isZero();
		}
	}

	private JdbcLockProvider locks(TestDatabase database) {
		return new JdbcLockProvider(database.dataSource(), this.namespace, TestDatabase.impatient());
	}

	private static long purge(JdbcLockProvider locks) {
		long removed = 0;
		@Nullable String after = null;
		do {
			Purged batch = locks.purge(IDLE, after, 2);
			assertThat(batch.removed()).isLessThanOrEqualTo(2);
			removed += batch.removed();
			after = batch.next();
		}
		while (after != null);
		return removed;
	}

}
