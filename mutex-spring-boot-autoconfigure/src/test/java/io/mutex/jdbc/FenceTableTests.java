package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The guard that keeps its resources in a table.
 */
class FenceTableTests {

	private static final Duration REMAINING = Duration.ofSeconds(20);

	private final String resource = Requests.newKey();

	private final Fence first = Fences.of(this.resource, 41);

	private final Fence second = Fences.of(this.resource, 42);

	@ParameterizedTest
	@EnumSource
	void registrationIsAcceptedIfItIsLaterOrARepetition(JdbcPlatform platform) {
		try (JdbcFenceGuard guard = TestDatabase.shared(platform).guard()) {
			guard.register(this.first);
			guard.register(this.first);
			guard.register(this.second);
			guard.register(this.second);
			assertRefused(() -> guard.register(this.first), this.first, 42);
			Fence sameToken = Fences.of(this.resource, 42);
			assertRefused(() -> guard.register(sameToken), sameToken, 42);
			guard.register(this.second);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C73 a resource belongs to one key, and the refusal names both")
	void resourceBelongsToOneKey(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			guard.register(Fences.of(this.resource, "key-a", 41));
			Fence other = Fences.of(this.resource, "key-b", 99);
			assertNamesBothKeys(() -> guard.register(other));
			assertNamesBothKeys(() -> guard.confirm(connection, other, REMAINING));
			Fence onWrite = new Fence(this.resource, "key-b", other.token(), other.nonce(), false);
			assertNamesBothKeys(() -> guard.confirm(connection, onWrite, REMAINING));
			connection.rollback();
			guard.register(Fences.of(this.resource, "key-a", 43));
		}
	}

	private void assertNamesBothKeys(ThrowingWork work) {
		assertThatExceptionOfType(MutexException.class).isThrownBy(work::run)
			.withMessageContaining(this.resource)
			.withMessageContaining("'key-a'")
			.withMessageContaining("'key-b'")
			.withMessageContaining("mutex_fence")
			.satisfies((ex) -> assertThat(ex).isNotInstanceOf(StaleFencingTokenException.class));
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C73 a resource that is named like a key belongs to it, as its lock row is the guard")
	void resourceNamedLikeAnotherKeyIsRefused(JdbcPlatform platform) {
		try (JdbcLockProvider locks = TestDatabase.shared(platform).provider()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Fence other = Fences.of(this.resource, "key-b", 99);
			guard.register(other);
			Requests.take(locks, this.resource);
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> guard.register(other))
				.withMessageContaining("'" + this.resource + "' belongs to key '" + this.resource + "'")
				.withMessageContaining("'key-b'");
			guard.register(Fences.of(this.resource + "-own", "key-b", 99));
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionOfTheRegisteredGrantIsConfirmedAndNoOther(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			guard.register(this.first);
			confirmTwice(guard, connection, this.first);
			guard.register(this.second);
			assertRefused(() -> guard.confirm(connection, this.first, REMAINING), this.first, 42);
			connection.rollback();
			Fence sameToken = Fences.of(this.resource, 42);
			assertRefused(() -> guard.confirm(connection, sameToken, REMAINING), sameToken, 42);
			connection.rollback();
			confirmTwice(guard, connection, this.second);
			guard.restore(connection);
		}
	}

	private static void confirmTwice(JdbcFenceGuard guard, Connection connection, Fence fence) throws SQLException {
		String version = "SELECT version FROM mutex_fence WHERE resource = '" + fence.resource() + "'";
		long before = Long.parseLong(Fences.query(connection, version));
		guard.confirm(connection, fence, REMAINING);
		guard.confirm(connection, fence, null);
		connection.commit();
		assertThat(Fences.query(connection, version)).isEqualTo(Long.toString(before + 2));
		connection.commit();
	}

	@ParameterizedTest
	@EnumSource
	void strictGrantThatIsNotRegisteredIsNotConfirmed(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> guard.confirm(connection, this.first, REMAINING))
				.withMessageContaining("41 is not registered at resource '" + this.resource);
			connection.rollback();
			guard.register(this.first);
			assertRefused(() -> guard.confirm(connection, this.second, REMAINING), this.second, 41);
			connection.rollback();
		}
	}

	@ParameterizedTest
	@EnumSource
	void writeRegistersWhereTheGrantIsNotStrict(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		Fence early = Fences.onWrite(this.resource, 41);
		Fence late = Fences.onWrite(this.resource, 42);
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			guard.confirm(connection, early, REMAINING);
			guard.confirm(connection, early, null);
			connection.commit();
			guard.confirm(connection, late, REMAINING);
			connection.rollback();
			guard.confirm(connection, early, REMAINING);
			connection.commit();
			guard.confirm(connection, late, REMAINING);
			connection.commit();
			assertRefused(() -> guard.confirm(connection, early, REMAINING), early, 42);
			connection.rollback();
			guard.confirm(connection, late, REMAINING);
			connection.commit();
			guard.restore(connection);
		}
	}

	@ParameterizedTest
	@EnumSource
	void revocationRefusesEveryGrantOfTheKeySoFar(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		String key = this.resource;
		Fence one = Fences.of(key + "-1", key, 41);
		Fence two = Fences.of(key + "-2", key, 42);
		Fence foreign = Fences.of(key + "-3", key + "-other", 41);
		FencingToken raised = new FencingToken(50);
		String nonce = Fences.newNonce();
		try (JdbcFenceGuard guard = database.guard(); Connection connection = database.begin()) {
			guard.revoke(key, raised, nonce);
			guard.register(one);
			guard.register(two);
			guard.register(foreign);
			guard.revoke(key, raised, nonce);
			guard.revoke(key, raised, nonce);
			assertRefused(() -> guard.confirm(connection, one, REMAINING), one, 50);
			connection.rollback();
			assertRefused(() -> guard.register(two), two, 50);
			guard.confirm(connection, foreign, REMAINING);
			connection.commit();
			guard.register(Fences.of(key + "-1", key, 51));
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> guard.revoke(key, raised, nonce))
				.satisfies((ex) -> assertThat(ex.getAccepted().value()).isEqualTo(51));
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C70 check and write are one: a later registration waits for the commit")
	void registrationWaitsForTheCommitOfAConfirmedTransaction(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		AtomicBoolean ended = new AtomicBoolean();
		try (JdbcFenceGuard guard = patient(database); Connection connection = database.begin()) {
			guard.register(this.first);
			guard.confirm(connection, this.first, REMAINING);
			CompletableFuture<Boolean> endedBefore = CompletableFuture.supplyAsync(() -> {
				guard.register(this.second);
				return ended.get();
			});
			LockWaits.await(platform, database, endedBefore);
			ended.set(true);
			connection.commit();
			assertThat(endedBefore.get(1, TimeUnit.MINUTES)).isTrue();
			assertRefused(() -> guard.confirm(connection, this.first, REMAINING), this.first, 42);
			connection.rollback();
			guard.restore(connection);
		}
	}

	@ParameterizedTest
	@EnumSource
	void registrationDoesNotWaitWithoutEnd(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcFenceGuard guard = new JdbcFenceGuard(database.dataSource(), "test", TestDatabase.impatient());
				Connection connection = database.begin()) {
			guard.register(this.first);
			guard.confirm(connection, this.first, REMAINING);
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> guard.register(this.second))
				.withMessageContaining("mutex.jdbc.lock-timeout")
				.withMessageContaining(this.resource);
			connection.commit();
			guard.confirm(connection, this.first, REMAINING);
			connection.commit();
		}
	}

	@ParameterizedTest
	@EnumSource
	void guardBesideLocksRegistersOtherResourcesInTheTable(JdbcPlatform platform) throws SQLException {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider locks = database.provider(); Connection connection = database.begin()) {
			JdbcFenceGuard guard = JdbcFenceGuard.of(locks);
			Grant grant = Requests.take(locks, Requests.newKey());
			Fence fence = new Fence(this.resource, grant.key(), new FencingToken(grant.token()), grant.nonce(), true);
			guard.register(fence);
			guard.confirm(connection, fence, REMAINING);
			connection.commit();
			FencingToken raised = new FencingToken(grant.token() + 1);
			guard.revoke(grant.key(), raised, Fences.newNonce());
			assertRefused(() -> guard.confirm(connection, fence, REMAINING), fence, raised.value());
			connection.rollback();
		}
	}

	private static JdbcFenceGuard patient(TestDatabase database) {
		return new JdbcFenceGuard(database.dataSource(), "test",
				JdbcSettings.defaults().withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(90)));
	}

	static void assertRefused(ThrowingWork work, Fence fence, long accepted) {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(work::run).satisfies((ex) -> {
			assertThat(ex.getResource()).isEqualTo(fence.resource());
			assertThat(ex.getToken()).isEqualTo(fence.token());
			assertThat(ex.getAccepted().value()).isEqualTo(accepted);
		});
	}

	@FunctionalInterface
	interface ThrowingWork {

		void run() throws SQLException;

	}

}
