package io.mutex.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Held;
import io.mutex.Fence;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.testing.CuttingProxy;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a second PostgreSQL that knows less does: a standby that is behind, and a copy
 * that is put in the place of its original.
 */
class StandbyTests {

	private static TestServer primary;

	private TestDatabase database;

	private final String key = Requests.newKey();

	@BeforeAll
	static void startPrimary() {
		primary = TestServers.newPostgres();
	}

	@AfterAll
	static void stopPrimary() {
		primary.close();
	}

	@BeforeEach
	void createDatabase() {
		this.database = TestDatabase.at(primary.newDatabase());
		JdbcSchema.create(this.database.dataSource(), JdbcSettings.defaults());
	}

	@Test
	@DisplayName("J7 a promoted standby that was behind grants higher tokens, and refuses the holder that it has not seen")
	void promotedStandbyGrantsHigherTokensAndRefusesTheLostHolder() throws Exception {
		try (CuttingProxy link = CuttingProxy.to(primary.host(), primary.port());
				TestServer standby = standby(link);
				JdbcFenceGuard outside = TestDatabase.of(JdbcPlatform.H2).guard()) {
			TestDatabase promoted = on(standby);
			Grant lost;
			try (LockProvider locks = this.database.provider()) {
				Grant seen = Requests.take(locks, Requests.newKey());
				Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> promoted.query(count(seen)).equals("1"));
				link.cut();
				lost = Requests.take(locks, Requests.request(this.key, "u"));
				outside.register(Fences.of(lost));
				assertThat(promoted.query(count(lost))).isEqualTo("0");
				primary.kill();
			}
			try (JdbcLockProvider locks = promoted.provider(); Connection connection = promoted.connect()) {
				promoted.execute("SELECT pg_promote()");
				Grant next = Requests.take(locks, Requests.request(this.key, "u"));
				assertThat(next.token()).isGreaterThan(lost.token());
				assertThat(locks.renew(List.of(lost, next))).containsExactly(Renewal.LOST, Renewal.RENEWED);
				assertThat(locks.complete(lost, "u")).isEqualTo(Settlement.NOT_OWNER);
				assertRefused(outside, Fences.of(lost), next);
				connection.setAutoCommit(false);
				FenceTableTests.assertRefused(
						() -> JdbcFenceGuard.of(locks).confirm(connection, Fences.of(lost), Requests.TTL),
						Fences.of(lost), next.token());
				connection.rollback();
				assertThat(locks.complete(next, "u")).isEqualTo(Settlement.SETTLED);
				assertThat(locks.runs(this.key, 10)).hasSize(1);
			}
		}
		finally {
			primary.start();
		}
	}

	@Test
	@DisplayName("J8 a restored copy grants higher tokens, runs again what it has forgotten, and nothing else")
	void restoredCopyGrantsHigherTokensAndRunsAgainWhatItHasForgotten() throws Exception {
		try (JdbcFenceGuard outside = TestDatabase.of(JdbcPlatform.H2).guard();
				LockProvider locks = this.database.provider()) {
			run(locks, "1");
			try (TestServer copy = primary.copy(); LockProvider restored = on(copy).provider()) {
				Grant last = run(locks, "2");
				for (int unit = 3; unit <= 10; unit++) {
					last = run(locks, Integer.toString(unit));
				}
				outside.register(Fences.of(last));
				assertThat(restored.runs(this.key, 10)).hasSize(1);
				assertThat(restored.acquire(Requests.request(this.key, "1"))).isInstanceOf(Done.class);
				Grant again = run(restored, "2");
				assertThat(again.token()).isGreaterThan(last.token());
				assertRefused(outside, Fences.of(last), again);
			}
		}
	}

	private Grant run(LockProvider locks, String unit) {
		Grant grant = Requests.take(locks, Requests.request(this.key, unit));
		assertThat(locks.complete(grant, unit)).isEqualTo(Settlement.SETTLED);
		return grant;
	}

	private static void assertRefused(JdbcFenceGuard guard, Fence earlier, Grant next) {
		guard.register(Fences.of(next));
		FenceTableTests.assertRefused(() -> guard.register(earlier), earlier, next.token());
	}

	@Test
	@DisplayName("J9 a transaction that is routed to a standby for reading gets no key that is held, and settles nothing")
	void readingTransactionRoutedToAReplicaGrantsNothingFromIt() throws Exception {
		try (CuttingProxy link = CuttingProxy.to(primary.host(), primary.port());
				TestServer standby = standby(link);
				LockProvider locks = this.database.provider()) {
			link.cut();
			Grant held = Requests.take(locks, Requests.request(this.key, "u"));
			AbstractRoutingDataSource routing = routing(on(standby));
			try (LockProvider routed = TestDatabase.provider(routing, JdbcSettings.defaults())) {
				TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(routing));
				transaction.executeWithoutResult(
						(status) -> assertThat(routed.acquire(Requests.request(this.key))).isInstanceOf(Held.class));
				transaction.setReadOnly(true);
				transaction.executeWithoutResult((status) -> {
					assertThatExceptionOfType(MutexException.class)
						.isThrownBy(() -> routed.acquire(Requests.request(this.key)))
						.withMessageContaining("takes no writes");
					assertThatExceptionOfType(MutexException.class).isThrownBy(() -> routed.complete(held, "u"));
				});
				assertThat(routed.acquire(Requests.request(this.key))).isInstanceOf(Held.class);
				assertThat(routed.complete(held, "u")).isEqualTo(Settlement.SETTLED);
			}
		}
	}

	private AbstractRoutingDataSource routing(TestDatabase replica) {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
			}

		};
		routing.setTargetDataSources(Map.of(true, replica.dataSource(), false, this.database.dataSource()));
		routing.afterPropertiesSet();
		return routing;
	}

	private static TestServer standby(CuttingProxy link) {
		return primary.copy("primary_conninfo=host=127.0.0.1 user=postgres port=" + link.port(),
				"wal_retrieve_retry_interval=100ms");
	}

	private TestDatabase on(TestServer server) {
		return TestDatabase.at(this.database.url().replace(":" + primary.port() + "/", ":" + server.port() + "/"));
	}

	private static String count(Grant grant) {
		return "SELECT count(*) FROM mutex_lock WHERE lock_key = '" + grant.key() + "'";
	}

}
