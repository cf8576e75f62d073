package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord.Status;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A unit that ends between the moment in which its record was looked up and the one in
 * which the row of the key is had. In a database whose statements keep their snapshot
 * while they wait, a step that does not compare the version grants it again.
 */
class RecordRaceTests {

	private static final JdbcSettings PATIENT = JdbcSettings.defaults()
		.withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(90));

	@ParameterizedTest
	@EnumSource
	@DisplayName("a unit that succeeds while its row is waited for is not run again")
	void unitThatSucceedsWhileItsRowIsWaitedForIsDone(JdbcPlatform platform) throws Exception {
		assertThat(race(platform, 'D', 0)).isInstanceOf(Acquisition.Done.class);
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("an attempt that is made while its row is waited for is not made again")
	void attemptThatIsMadeWhileItsRowIsWaitedForIsNotDue(JdbcPlatform platform) throws Exception {
		assertThat(race(platform, 'F', 1)).isInstanceOfSatisfying(Acquisition.NotYet.class,
				(notYet) -> assertThat(notYet.last().status()).isEqualTo(Status.FAILED));
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("a failure that is stored while its row is waited for counts")
	void failureThatIsStoredWhileItsRowIsWaitedForCounts(JdbcPlatform platform) throws Exception {
		assertThat(race(platform, 'F', 0)).isInstanceOfSatisfying(Acquisition.Granted.class,
				(granted) -> assertThat(granted.attempt()).isEqualTo(2));
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("a unit that a transaction records while its row is waited for is not run again")
	void unitThatATransactionRecordsWhileItsRowIsWaitedForIsDone(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		try (JdbcLockProvider provider = new JdbcLockProvider(database.dataSource(), "test", PATIENT);
				Connection running = database.begin()) {
			Grant run = Requests.take(provider, Requests.request(Requests.newKey(), "u", Duration.ofMillis(1)));
			Awaitility.await().until(() -> provider.lock(run.key()).isEmpty());
			assertThat(provider.complete(running, run, "u", Duration.ofMinutes(1))).isTrue();
			CompletableFuture<Acquisition> answer = CompletableFuture
				.supplyAsync(() -> provider.acquire(Requests.request(run.key(), "u")));
			LockWaits.await(platform, database, answer);
			running.commit();
			provider.restore(running);
			assertThat(answer.get(1, TimeUnit.MINUTES)).isInstanceOf(Acquisition.Done.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("nobody gets a unit between its release and its record")
	void recordAndReleaseAreOneStep(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		JdbcSettings impatient = JdbcSettings.defaults().withTimeouts(Duration.ofMillis(200), Duration.ofSeconds(30));
		try (CountingDataSource counting = new CountingDataSource(database.dataSource());
				LockProvider provider = new JdbcLockProvider(counting, "test", PATIENT.withPoolSize(0));
				LockProvider other = new JdbcLockProvider(database.dataSource(), "test", impatient)) {
			Grant run = Requests.take(provider, Requests.request(Requests.newKey(), "u"));
			List<Acquisition> answers = new ArrayList<>();
			counting.between(() -> answers.add(other.acquire(Requests.request(run.key(), "u"))));
			assertThat(provider.complete(run, "u")).isEqualTo(Settlement.SETTLED);
			answers.add(other.acquire(Requests.request(run.key(), "u")));
			assertThat(answers).hasSizeGreaterThanOrEqualTo(2).noneMatch(Acquisition.Granted.class::isInstance);
			assertThat(answers.get(answers.size() - 1)).isInstanceOf(Acquisition.Done.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("a record counts also when somebody has deleted the row of its key")
	void recordCountsWithoutARowOfItsKey(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		try (LockProvider provider = database.provider()) {
			Grant run = Requests.take(provider, Requests.request(Requests.newKey(), "u"));
			provider.complete(run, "u");
			Grant failed = Requests.take(provider, Requests.request(run.key(), "v"));
			provider.fail(failed, "v", "error", Duration.ZERO);
			database.execute("DELETE FROM mutex_lock WHERE lock_key = '" + run.key() + "'");
			assertThat(provider.acquire(Requests.request(run.key(), "u"))).isInstanceOf(Acquisition.Done.class);
			assertThat(provider.lock(run.key())).isEmpty();
			database.execute("DELETE FROM mutex_lock WHERE lock_key = '" + run.key() + "'");
			assertThat(provider.acquire(Requests.request(run.key(), "v")))
				.isInstanceOfSatisfying(Acquisition.Granted.class, (granted) -> {
					assertThat(granted.attempt()).isEqualTo(2);
					assertThat(granted.token()).isGreaterThan(failed.token());
				});
		}
	}

	// another run of the unit has the row, ends, and lets it go while the acquisition
	// waits
	private static Acquisition race(JdbcPlatform platform, char status, int attempt) throws Exception {
		TestDatabase database = TestDatabase.shared(platform);
		try (LockProvider provider = new JdbcLockProvider(database.dataSource(), "test", PATIENT);
				Connection running = database.connect();
				Statement statement = running.createStatement()) {
			Grant before = Requests.take(provider, Requests.newKey());
			provider.release(before.key(), before.nonce(), true);
			running.setAutoCommit(false);
			String row = " WHERE namespace = 'test' AND lock_key = '" + before.key() + "'";
			statement.execute("UPDATE mutex_lock SET version = version + 1, token = token + 1, nonce = '"
					+ "e".repeat(32) + "', unit = 'u', attempt = 1, expires_at = " + Long.MAX_VALUE + row);
			AcquireRequest plain = Requests.request(before.key(), "u");
			AcquireRequest request = new AcquireRequest(plain.key(), plain.name(), plain.nonce(), plain.owner(),
					plain.ttl(), 0, plain.unit(), attempt, 1);
			CompletableFuture<Acquisition> answer = CompletableFuture.supplyAsync(() -> provider.acquire(request));
			Awaitility.await()
				.atMost(Duration.ofSeconds(15))
				.pollInterval(Duration.ofMillis(20))
				.until(() -> isAnyoneWaiting(database, platform));
			statement.execute("UPDATE mutex_lock SET version = version + 1, expires_at = 0" + row);
			statement.execute("INSERT INTO mutex_run (namespace, lock_key, unit, status, token, nonce, owner_info,"
					+ " attempt, began_at, ended_at, not_before, error) SELECT namespace, lock_key, unit, '" + status
					+ "', token, nonce, owner_info, 1, acquired_at, acquired_at, 0, NULL FROM mutex_lock" + row);
			running.commit();
			return answer.get(20, TimeUnit.SECONDS);
		}
	}

	private static boolean isAnyoneWaiting(TestDatabase database, JdbcPlatform platform) throws SQLException {
		return !database.query(switch (platform) {
			case H2 -> "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL";
			case POSTGRESQL -> "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
					+ " AND wait_event_type = 'Lock'";
			case MARIADB, MYSQL -> "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
		}).equals("0");
	}

}
