package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.LockProvider;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a crash of the server leaves.
 */
class DurabilityTests {

	private static final int ROUNDS = 5;

	@Test
	@DisplayName("J1 nothing is lost although the server commits asynchronously")
	void postgresThatCommitsAsynchronouslyLosesNothing() throws SQLException {
		try (TestServer server = TestServers.newPostgres("synchronous_commit=off", "wal_writer_delay=10s")) {
			TestDatabase database = TestDatabase.at(server.jdbcUrl());
			JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
			Grant held;
			String resource = Requests.newKey();
			Fence first = Fences.of(resource, 41);
			Fence second = Fences.of(resource, 42);
			try (LockProvider provider = database.provider(); JdbcFenceGuard guard = database.guard()) {
				String key = Requests.newKey();
				assertDurable(database, () -> provider.release(Requests.newKey(), "f".repeat(32), true));
				Grant failed = durably(database, () -> Requests.take(provider, Requests.request(key, "u")));
				assertDurable(database, () -> provider.fail(failed, "u", "error", Duration.ZERO));
				Grant done = durably(database, () -> Requests.take(provider, Requests.request(key, "u")));
				assertDurable(database, () -> provider.complete(done, "u"));
				held = durably(database, () -> Requests.take(provider, key));
				assertDurable(database, () -> provider.release(key, held.nonce(), true));
				durably(database, () -> register(guard, first));
				durably(database, () -> register(guard, second));
				durably(database, () -> register(guard, Fences.of(resource + "-revoked", 41)));
				durably(database, () -> {
					guard.revoke(resource + "-revoked", new FencingToken(50), Fences.newNonce());
					return true;
				});
				server.kill();
			}
			server.start();
			try (LockProvider provider = database.provider(); JdbcFenceGuard guard = database.guard()) {
				FenceTableTests.assertRefused(() -> guard.register(first), first, 42);
				Fence revoked = Fences.of(resource + "-revoked", 42);
				FenceTableTests.assertRefused(() -> guard.register(revoked), revoked, 50);
				assertThat(provider.runs(held.key(), 10)).hasSize(1);
				assertThat(Requests.take(provider, held.key()).token()).isGreaterThan(held.token());
			}
		}
	}

	private static Fence register(JdbcFenceGuard guard, Fence fence) {
		guard.register(fence);
		return fence;
	}

	@Test
	@DisplayName("J2 what a lazily flushed server has lost comes back with higher tokens")
	void lazilyFlushedMariaDbGrantsHigherTokens() throws SQLException {
		TestDatabase elsewhere = TestDatabase.of(JdbcPlatform.H2);
		try (TestServer server = TestServers.newMariaDb("--innodb-flush-log-at-trx-commit=0",
				"--innodb-flush-log-at-timeout=2700"); JdbcFenceGuard outside = elsewhere.guard()) {
			TestDatabase database = TestDatabase.at(server.jdbcUrl());
			JdbcSchema.create(database.dataSource(), JdbcSettings.defaults());
			int lost = 0;
			// the server may flush at any moment by itself, but not each time just before
			// it is killed
			for (int round = 0; round < ROUNDS && lost == 0; round++) {
				List<Fence> before = new ArrayList<>();
				try (JdbcLockProvider locks = database.provider(); JdbcFenceGuard guard = database.guard()) {
					for (int i = 0; i < 5; i++) {
						Fence fence = Fences.of(Requests.take(locks, Requests.newKey()));
						guard.register(fence);
						outside.register(fence);
						before.add(fence);
					}
					server.kill();
				}
				server.start();
				lost = takeOver(database, outside, before);
			}
			assertThat(lost).as("grants that a crash has taken, else this proves nothing").isPositive();
		}
	}

	// how many of the grants were lost
	private static int takeOver(TestDatabase database, JdbcFenceGuard outside, List<Fence> before) throws SQLException {
		int lost = 0;
		try (JdbcLockProvider locks = database.provider();
				JdbcFenceGuard guard = database.guard();
				Connection connection = database.begin()) {
			JdbcFenceGuard lockRow = JdbcFenceGuard.of(locks);
			for (Fence fence : before) {
				lost += (locks.forceRelease(fence.key()).result() == ForcedRelease.Result.NOT_HELD) ? 1 : 0;
				Fence next = Fences.of(Requests.take(locks, fence.key()));
				long token = next.token().value();
				assertThat(token).isGreaterThan(fence.token().value());
				outside.register(next);
				guard.register(next);
				FenceTableTests.assertRefused(() -> outside.register(fence), fence, token);
				FenceTableTests.assertRefused(() -> guard.register(fence), fence, token);
				FenceTableTests.assertRefused(() -> guard.confirm(connection, fence, Requests.TTL), fence, token);
				FenceTableTests.assertRefused(() -> lockRow.confirm(connection, fence, Requests.TTL), fence, token);
				connection.rollback();
			}
		}
		return lost;
	}

	private static <T> T durably(TestDatabase database, Supplier<T> step) throws SQLException {
		String before = database.query("SELECT pg_current_wal_insert_lsn()");
		T result = step.get();
		assertThat(database.query("SELECT pg_current_wal_flush_lsn() > '" + before + "'::pg_lsn")).isEqualTo("t");
		return result;
	}

	private static void assertDurable(TestDatabase database, Supplier<Settlement> step) throws SQLException {
		assertThat(durably(database, step)).isNotNull();
	}

}
