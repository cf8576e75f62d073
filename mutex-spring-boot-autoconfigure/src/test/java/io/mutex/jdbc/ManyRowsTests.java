package io.mutex.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.Purged;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import io.mutex.testing.Experiments;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many units of one key and many keys of one unit: every step finds its rows by an index,
 * and after the retention the tables are small again.
 */
@Tag("experiment")
class ManyRowsTests {

	private static final String JOB = "job";

	private static final int ROWS = Experiments.rounds(5_000, 100_000);

	private static final RunUnit UNIT = RunUnit.of("now").keptFor(Duration.ofDays(1));

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "MYSQL")
	@DisplayName("C143 many units and many keys: indexed steps, and tables that shrink back")
	void stepsAreIndexedAndTablesShrinkBack(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.of(platform);
		fill(database, platform);
		ExplainingDataSource explaining = new ExplainingDataSource(database.dataSource());
		try (LockProvider provider = TestDatabase.provider(explaining, JdbcSettings.defaults().withPoolSize(0))) {
			provider.check();
			explaining.plans.clear();
			cycle(provider, JOB);
			cycle(provider, "key-17");
			cycle(provider, "another");
			provider.runs(JOB, 20);
			provider.lastSuccess(JOB);
			assertIndexed(platform, explaining.plans);
		}
		try (LockProvider provider = TestDatabase.provider(database.dataSource(), JdbcSettings.defaults())) {
			long begin = System.nanoTime();
			int cycles = 50;
			for (int i = 0; i < cycles; i++) {
				cycle(provider, "fresh-" + i);
			}
			long cycle = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin) / cycles;
			database.letPass("test", Duration.ofDays(3));
			begin = System.nanoTime();
			int batches = 0;
			int removed = 0;
			Purged batch = new Purged(0, null);
			do {
				batch = provider.purge(Duration.ofDays(1), batch.next(), 500);
				assertThat(batch.removed()).isLessThanOrEqualTo(500);
				removed += batch.removed();
				batches++;
			}
			while (batch.next() != null);
			long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
			Experiments.report("many rows on " + platform.id(),
					rows(platform) + " units and as many keys; acquire and complete " + cycle + " us; " + removed
							+ " rows removed in " + batches + " batches, " + millis + " ms");
		}
		// the newest of the job whose key is its name, and the job itself
		assertThat(database.query("SELECT count(*) FROM mutex_run")).isEqualTo("1");
		assertThat(database.query("SELECT count(*) FROM mutex_lock")).isEqualTo("1");
	}

	@Test
	void theRecordIsFoundByItsKeyBeforeTheDatabaseHasStatistics() throws Exception {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		for (String table : List.of("lock", "run", "fence")) {
			database.execute("ALTER TABLE mutex_" + table + " SET (autovacuum_enabled = false)");
		}
		ExplainingDataSource explaining = new ExplainingDataSource(database.dataSource());
		try (LockProvider provider = TestDatabase.provider(explaining, JdbcSettings.defaults().withPoolSize(0))) {
			cycle(provider, JOB);
			database.execute("INSERT INTO mutex_run SELECT namespace, lock_key, 'unit-' || n, status, token, nonce,"
					+ " owner_info, attempt, began_at, ended_at, not_before, error, kept_until"
					+ " FROM mutex_run, generate_series(1, 1000) AS g(n)");
			explaining.plans.clear();
			cycle(provider, "another");
		}
		assertThat(String.join("\n", explaining.plans)).contains("mutex_run_pkey")
			.doesNotContain("mutex_run_began")
			.doesNotContain("mutex_run_kept")
			.doesNotContain("Seq Scan");
	}

	@Test
	void renewalsLookUpTheirKeysBeforeTheDatabaseHasStatistics() throws Exception {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		database.execute("ALTER TABLE mutex_lock SET (autovacuum_enabled = false)");
		ExplainingDataSource explaining = new ExplainingDataSource(database.dataSource());
		try (LockProvider provider = TestDatabase.provider(explaining, JdbcSettings.defaults().withPoolSize(0))) {
			Grant first = Requests.take(provider, "key");
			database.execute("INSERT INTO mutex_lock (namespace, lock_key, slot, version, token, nonce, attempt,"
					+ " acquired_at, expires_at, buried_at) SELECT namespace, 'key-' || n, slot, version, token, nonce,"
					+ " attempt, acquired_at, expires_at, buried_at FROM mutex_lock, generate_series(1, 5000) AS g(n)");
			List<Grant> grants = IntStream.rangeClosed(1, 500)
				.mapToObj((n) -> new Grant("key-" + n, first.nonce(), first.token(), Requests.TTL))
				.toList();
			explaining.plans.clear();
			assertThat(provider.renew(grants)).containsOnly(Renewal.RENEWED);
			// or each key would be compared with each row
			assertThat(String.join("\n", explaining.plans)).contains("mutex_lock").doesNotContain("Join Filter");
		}
	}

	@Test
	void renewalsKeepNoPlanThatWasGoodForASmallTable() throws Exception {
		TestDatabase database = TestDatabase.of(JdbcPlatform.POSTGRESQL);
		try (CountingDataSource connection = new CountingDataSource(database.dataSource());
				LockProvider provider = TestDatabase.provider(connection, JdbcSettings.defaults().withPoolSize(0))) {
			List<Grant> grants = List.of(Requests.take(provider, "key"));
			for (int i = 0; i < 12; i++) {
				assertThat(provider.renew(grants)).containsOnly(Renewal.RENEWED);
			}
			try (Statement statement = connection.getConnection().createStatement();
					ResultSet kept = statement
						.executeQuery("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%asked%'")) {
				assertThat(kept.next()).isFalse();
			}
		}
	}

	// H2 looks for the newest run of a key among all of them
	private static int rows(JdbcPlatform platform) {
		return (platform == JdbcPlatform.H2) ? ROWS / 10 : ROWS;
	}

	private static void cycle(LockProvider provider, String key) {
		String nonce = Requests.request(key).nonce();
		AcquireRequest request = new AcquireRequest(key, key.equals(JOB) ? JOB : "name", nonce,
				new Owner("instance", "host", 1, "thread"), Requests.TTL, 0, UNIT, 0, 1);
		assertThat(provider.acquire(request)).isInstanceOfSatisfying(Acquisition.Granted.class,
				(granted) -> assertThat(provider.complete(new Grant(key, nonce, granted.token(), Requests.TTL), "now"))
					.isEqualTo(Settlement.SETTLED));
		assertThat(provider.acquire(request)).isInstanceOf(Acquisition.Done.class);
	}

	// every unit ended half a day ago and is kept for a day
	private static void fill(TestDatabase database, JdbcPlatform platform) throws SQLException {
		int rows = rows(platform);
		String numbers = switch (platform) {
			case POSTGRESQL -> "(SELECT n FROM generate_series(1, " + rows + ") AS g(n)) s";
			case H2 -> "(SELECT x AS n FROM SYSTEM_RANGE(1, " + rows + ")) s";
			case MARIADB, MYSQL -> "(SELECT seq AS n FROM seq_1_to_" + rows + ") s";
		};
		String cast = switch (platform) {
			case MARIADB, MYSQL -> "CAST(n AS CHAR)";
			default -> "CAST(n AS VARCHAR)";
		};
		String now = platform.now();
		String run = "'D', 1, 'nonce', 'a', 1, " + now + " - 43200000000 + n, " + now + " - 43200000000 + n, 0, NULL, "
				+ now + " + 43200000000 FROM " + numbers;
		String columns = "INSERT INTO mutex_run (namespace, lock_key, " + Rows.RUN_COLUMNS + ") SELECT 'test', ";
		String lock = "INSERT INTO mutex_lock (namespace, lock_key, slot, " + Rows.LOCK_COLUMNS + ") SELECT 'test', ";
		String released = ", 0, 1, 1, 'nonce', 'name', 'a', NULL, 0, " + now
				+ " - 43200000000, 0, '', 0, 0, 0, '', 0 FROM ";
		database.execute(columns + "'" + JOB + "', CONCAT('unit-', " + cast + "), " + run);
		database.execute(columns + "CONCAT('key-', " + cast + "), 'u', " + run);
		database.execute(lock + "CONCAT('key-', " + cast + ")" + released + numbers);
		database.execute(lock + "'" + JOB + "'" + released + "(SELECT 1 AS n) s");
		switch (platform) {
			case POSTGRESQL -> database.execute("VACUUM ANALYZE");
			case MARIADB, MYSQL -> database.execute("ANALYZE TABLE mutex_lock, mutex_run");
			default -> database.execute("ANALYZE");
		}
	}

	private static void assertIndexed(JdbcPlatform platform, List<String> plans) {
		assertThat(plans).hasSizeGreaterThan(4);
		String all = plans.stream()
			.flatMap(String::lines)
			// an insertion looks for nothing, but is listed like a look at all rows
			.filter((line) -> !line.contains("UNION RESULT") && !line.contains(" INSERT "))
			.collect(Collectors.joining("\n"));
		switch (platform) {
			case POSTGRESQL -> assertThat(all).contains("Index Scan using mutex_run_pkey")
				.contains("Index Scan using mutex_lock_pkey")
				.contains("mutex_run_began")
				.doesNotContain("Seq Scan")
				.doesNotContain("Sort ");
			case MARIADB,
					MYSQL ->
				assertThat(all).contains("PRIMARY")
					.contains("run_began")
					.doesNotContain(" ALL ")
					.doesNotContain(" index ")
					.doesNotContain("filesort");
			default -> assertThat(all).contains("PRIMARY_KEY").doesNotContain("tableScan");
		}
	}

}
