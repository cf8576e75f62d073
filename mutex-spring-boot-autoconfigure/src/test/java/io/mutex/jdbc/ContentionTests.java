package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Held;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many at one key, in databases and connections that make it hard.
 */
class ContentionTests {

	private static final int THREADS = 8;

	@Test
	@DisplayName("C83 losers of a new key on PostgreSQL cause no error and roll nothing back")
	void losersOfANewKeyCauseNoError() throws Exception {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		try (LockProvider provider = database.provider()) {
			for (int round = 0; round < 10; round++) {
				assertOneWinner(provider, Requests.newKey(), null);
			}
		}
		assertThat(database.query("SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"))
			.isEqualTo("0");
	}

	// the clock of the loser reads what the winner's did, or a microsecond more, so that
	// the version it would give a new row is the one after the winner's
	@ParameterizedTest
	@CsvSource({ "0, u", "0,", "1, u", "1,", "2, u", "2," })
	void aNewKeyHasOneWinnerAlsoWhenTwoAskInOneMicrosecond(int later, @Nullable String unit) throws Exception {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		String key = Requests.newKey();
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try (LockProvider winner = database.provider();
				LockProvider loser = database.provider();
				Connection open = database.connect()) {
			Requests.take(winner, Requests.request(key, unit));
			execute(open, "CREATE TEMPORARY TABLE kept AS SELECT * FROM mutex_lock");
			execute(open, "DELETE FROM mutex_lock");
			execute(open,
					"CREATE FUNCTION at_one_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
							+ " NEW.version := NEW.version - NEW.acquired_at + 1000 + " + later
							+ "; NEW.acquired_at := 1000 + " + later + "; RETURN NEW; END $$");
			execute(open, "CREATE TRIGGER at_one_time BEFORE INSERT ON mutex_lock FOR EACH ROW"
					+ " EXECUTE FUNCTION at_one_time()");
			open.setAutoCommit(false);
			execute(open, "INSERT INTO mutex_lock SELECT * FROM kept");
			Future<Acquisition> answer = executor.submit(() -> loser.acquire(Requests.request(key, unit)));
			LockWaits.await(JdbcPlatform.POSTGRESQL, database, answer);
			execute(open, "UPDATE mutex_lock SET version = 1001, acquired_at = 1000");
			open.commit();
			assertThat(answer.get()).isInstanceOf(Acquisition.Held.class);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "MYSQL" })
	@DisplayName("C84 each of many new keys has one winner under REPEATABLE READ")
	void newKeysUnderRepeatableRead(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.of(platform);
		try (HikariDataSource pool = pool(database, "TRANSACTION_REPEATABLE_READ");
				LockProvider provider = TestDatabase.provider(pool, JdbcSettings.defaults().withPoolSize(0))) {
			for (int round = 0; round < 20; round++) {
				assertOneWinner(provider, Requests.newKey(), (round % 2 == 0) ? "u" : null);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C85 one wins an expired key under SERIALIZABLE, and nobody gets an exception")
	void expiredKeyUnderSerializable(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.of(platform);
		try (HikariDataSource pool = pool(database, "TRANSACTION_SERIALIZABLE");
				LockProvider provider = TestDatabase.provider(pool, JdbcSettings.defaults().withPoolSize(0))) {
			for (int round = 0; round < 5; round++) {
				String key = Requests.newKey();
				Requests.take(provider, Requests.request(key, "u", Duration.ofMillis(1)));
				while (provider.lock(key).isPresent()) {
					Thread.onSpinWait();
				}
				assertOneWinner(provider, key, "u");
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, true", "MARIADB, false", "MYSQL, true", "MYSQL, false" })
	@DisplayName("C86 what the driver calls an affected row proves nothing")
	void countOfAffectedRowsProvesNothing(JdbcPlatform platform, boolean affected) {
		TestDatabase database = TestDatabase.shared(platform).with("useAffectedRows=" + affected);
		try (LockProvider provider = database.provider()) {
			AcquireRequest request = Requests.request(Requests.newKey(), "u");
			Grant grant = Requests.take(provider, request);
			assertThat(Requests.take(provider, request)).isEqualTo(grant);
			for (int i = 0; i < 10; i++) {
				assertThat(provider.acquire(Requests.request(grant.key(), "u"))).isInstanceOf(Acquisition.Held.class);
			}
			assertThat(provider.renew(List.of(grant, grant))).containsOnly(Renewal.RENEWED);
			assertThat(provider.release(grant.key(), "f".repeat(32), true)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.acquire(Requests.request(grant.key(), "u"))).isInstanceOf(Acquisition.Done.class);
		}
	}

	@ParameterizedTest
	@CsvSource({ "H2, TIME ZONE=Europe/Berlin", "POSTGRESQL, options=-c%20TimeZone=Europe/Berlin",
			"MARIADB, sessionVariables=time_zone='-11:30'", "MYSQL, sessionVariables=time_zone='-11:30'" })
	@DisplayName("C88 the time zone of the session moves no time")
	void timeZoneOfTheSessionMovesNoTime(JdbcPlatform platform, String parameters) {
		TestDatabase database = TestDatabase.shared(platform);
		try (LockProvider plain = database.provider(); LockProvider elsewhere = database.with(parameters).provider()) {
			long before = Requests.take(plain, Requests.newKey()).token();
			String key = Requests.newKey();
			long between = Requests.take(elsewhere, key).token();
			long after = Requests.take(plain, Requests.newKey()).token();
			assertThat(between).isBetween(before, after);
			assertThat(plain.lock(key)).isPresent();
			assertThat(elsewhere.lock(key)).isPresent();
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C2 the time zone of the process moves no time")
	void timeZoneOfTheProcessMovesNoTime(JdbcPlatform platform) {
		TestDatabase database = TestDatabase.shared(platform);
		TimeZone usual = TimeZone.getDefault();
		try {
			TimeZone.setDefault(TimeZone.getTimeZone("America/Los_Angeles"));
			try (LockProvider west = database.provider()) {
				Grant grant = Requests.take(west, Requests.request(Requests.newKey(), "u"));
				HeldLock seenInTheWest = west.lock(grant.key()).orElseThrow();
				TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
				try (LockProvider east = database.provider()) {
					HeldLock seenInTheEast = east.lock(grant.key()).orElseThrow();
					assertThat(seenInTheEast.acquiredAt()).isEqualTo(seenInTheWest.acquiredAt());
					assertThat(seenInTheEast.expiresAt()).isEqualTo(seenInTheWest.expiresAt());
					assertThat(east.acquire(Requests.request(grant.key()))).isInstanceOfSatisfying(Held.class,
							(held) -> assertThat(held.remaining()).isBetween(Duration.ofMillis(1), Requests.TTL));
					assertThat(Requests.take(east, Requests.newKey()).token()).isBetween(grant.token(),
							grant.token() + Requests.TTL.toNanos() / 1000);
					assertThat(east.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
				}
				assertThat(west.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			}
		}
		finally {
			TimeZone.setDefault(usual);
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void assertOneWinner(LockProvider provider, String key, String unit) throws Exception {
		List<AcquireRequest> requests = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			requests.add(Requests.request(key, unit));
		}
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Callable<Acquisition>> calls = requests.stream()
				.map((request) -> (Callable<Acquisition>) () -> provider.acquire(request))
				.toList();
			List<Acquisition> answers = new ArrayList<>();
			for (Future<Acquisition> future : executor.invokeAll(calls)) {
				answers.add(future.get());
			}
			assertThat(answers).filteredOn(Acquisition.Granted.class::isInstance).hasSize(1);
			assertThat(answers).filteredOn(Acquisition.Held.class::isInstance).hasSize(THREADS - 1);
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static HikariDataSource pool(TestDatabase database, String isolation) throws SQLException {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.url());
		pool.setTransactionIsolation(isolation);
		pool.setMaximumPoolSize(THREADS);
		return pool;
	}

}
