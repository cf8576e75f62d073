package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.Fence;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How often the database is asked.
 */
class StatementCountTests {

	private static final Duration REMAINING = Duration.ofSeconds(60);

	private static final Pattern INSERT_SELECT = Pattern.compile("INSERT INTO \\S+ \\([^)]*\\) SELECT");

	private static final JdbcSettings PATIENT = JdbcSettings.defaults()
		.withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(60));

	@ParameterizedTest
	@EnumSource
	void acquisitionIsOneStatementWhereTheDatabaseCanDoIt(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			int most = isFast(platform) ? 1 : 2;
			String key = Requests.newKey();
			Grant first = Requests.take(provider, Requests.request(key, "u1"));
			assertThat(sent.sent()).as("a new key").hasSize(most);
			provider.complete(first, "u1");
			sent.sent();
			Grant second = Requests.take(provider, Requests.request(key, "u2"));
			assertThat(sent.sent()).as("with a unit").hasSize(most);
			provider.release(key, second.nonce(), false);
			assertThat(sent.sent()).as("a release").hasSize(1);
			Grant third = Requests.take(provider, Requests.request(key));
			assertThat(sent.sent()).as("without a unit").hasSize(most);
			provider.release(key, third.nonce(), true);
			assertThat(sent.sent()).as("a release after the body").hasSize(1);
		});
	}

	@ParameterizedTest
	@EnumSource
	void refusalIsOneStatement(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			String key = Requests.newKey();
			provider.complete(Requests.take(provider, Requests.request(key, "u1")), "u1");
			Requests.take(provider, Requests.request(key, "u2"));
			sent.sent();
			assertThat(provider.acquire(Requests.request(key, "u2"))).isInstanceOf(Acquisition.Held.class);
			assertThat(sent.sent()).as("held").hasSize(1);
			assertThat(provider.acquire(Requests.request(key))).isInstanceOf(Acquisition.Held.class);
			assertThat(sent.sent()).as("held, without a unit").hasSize(1);
			assertThat(provider.acquire(Requests.request(key, "u1"))).isInstanceOf(Acquisition.Done.class);
			assertThat(sent.sent()).as("done").hasSize(1);
			AcquireRequest waiting = Requests.waiting(key, Requests.request(key).nonce());
			assertThat(provider.acquire(waiting)).isInstanceOf(Acquisition.Held.class);
			assertThat(sent.sent()).as("held, and the place taken").hasSize(2);
		});
	}

	// the loser has seen the free key before it waits for the row of the winner
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, u, u", "POSTGRESQL, u, other", "POSTGRESQL,,", "MARIADB, u, u", "MARIADB,," })
	void loserOfARaceNeedsOneMoreStatementAtMost(JdbcPlatform platform, @Nullable String unit,
			@Nullable String winnersUnit) throws Exception {
		TestDatabase database = TestDatabase.of(platform);
		ExecutorService executor = Executors.newSingleThreadExecutor();
		count(database, platform, (provider, sent) -> {
			String key = Requests.newKey();
			for (boolean known : new boolean[] { false, true }) {
				try (LockProvider winner = database.provider(); Connection open = database.connect()) {
					Grant grant = Requests.take(winner, Requests.request(key, winnersUnit));
					String where = " WHERE lock_key = '" + key + "'";
					execute(open, "CREATE TEMPORARY TABLE kept AS SELECT * FROM mutex_lock" + where);
					execute(open, known ? "UPDATE mutex_lock SET expires_at = 0, version = version - 1" + where
							: "DELETE FROM mutex_lock" + where);
					open.setAutoCommit(false);
					execute(open,
							known ? "UPDATE mutex_lock SET version = version + 1, expires_at ="
									+ " (SELECT expires_at FROM kept)" + where
									: "INSERT INTO mutex_lock SELECT * FROM kept");
					Future<Acquisition> answer = executor.submit(() -> provider.acquire(Requests.request(key, unit)));
					LockWaits.await(platform, database, answer);
					open.commit();
					assertThat(answer.get()).isInstanceOf(Acquisition.Held.class);
					assertThat(sent.sent()).as(known ? "a free key" : "a new key")
						.hasSize((platform == JdbcPlatform.POSTGRESQL) ? 2 : 1);
					winner.release(key, grant.nonce(), false);
				}
			}
		});
		executor.shutdownNow();
	}

	@ParameterizedTest
	@EnumSource
	void sharingIsAFewStatements(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			String key = Requests.newKey();
			Grant first = Requests.take(provider, Requests.shared(key));
			assertThat(sent.sent()).as("a new key").hasSizeLessThanOrEqualTo(7);
			Grant second = Requests.take(provider, Requests.shared(key));
			assertThat(sent.sent()).as("one more holder").hasSizeLessThanOrEqualTo(7);
			assertThat(provider.acquire(Requests.request(key))).isInstanceOf(Acquisition.Held.class);
			assertThat(sent.sent()).as("a refusal").hasSize(isFast(platform) ? 2 : 1);
			assertThat(provider.renew(List.of(first, second))).containsOnly(Renewal.RENEWED);
			assertThat(sent.sent()).as("two renewals").hasSizeLessThanOrEqualTo(14);
			provider.release(key, first.nonce(), true);
			assertThat(sent.sent()).as("a release").hasSizeLessThanOrEqualTo(8);
		});
	}

	// MariaDB flushes a data file after INSERT ... SELECT: most of what a grant took
	@Test
	void nothingIsInsertedFromAQueryOnMariaDb() throws Exception {
		count(JdbcPlatform.MARIADB, (provider, sent) -> {
			String key = Requests.newKey();
			provider.complete(Requests.take(provider, Requests.request(key, "u1")), "u1");
			provider.fail(Requests.take(provider, Requests.request(key, "u2")), "u2", "error", Duration.ZERO);
			provider.release(key, Requests.take(provider, Requests.request(key)).nonce(), true);
			assertThat(sent.sent()).hasSizeGreaterThanOrEqualTo(6).noneMatch(INSERT_SELECT.asPredicate());
		});
	}

	@ParameterizedTest
	@EnumSource
	void outcomeIsOneStatementWhereTheDatabaseCanDoIt(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			String key = Requests.newKey();
			Grant failed = Requests.take(provider, Requests.request(key, "u"));
			sent.sent();
			assertThat(provider.fail(failed, "u", "error", Duration.ZERO)).isEqualTo(Settlement.SETTLED);
			assertThat(sent.sent()).as("a failure").hasSizeLessThanOrEqualTo(isFast(platform) ? 1 : 6);
			Grant done = Requests.take(provider, Requests.request(key, "u"));
			sent.sent();
			assertThat(provider.complete(done, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(sent.sent()).as("a completion").hasSizeLessThanOrEqualTo(isFast(platform) ? 1 : 6);
			assertThat(provider.complete(done, "u")).isEqualTo(Settlement.SETTLED);
		});
	}

	@ParameterizedTest
	@EnumSource
	void fiveHundredLeasesAreRenewedByOneStatement(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			List<Grant> grants = IntStream.range(0, 500)
				.mapToObj((i) -> Requests.take(provider, Requests.newKey()))
				.toList();
			sent.sent();
			assertThat(provider.renew(grants)).hasSize(500).containsOnly(Renewal.RENEWED);
			assertThat(sent.sent()).hasSize(1);
			provider.release(grants.get(7).key(), grants.get(7).nonce(), true);
			sent.sent();
			List<Renewal> answers = provider.renew(grants);
			assertThat(answers).filteredOn(Renewal.LOST::equals).hasSize(1);
			assertThat(answers.get(7)).isEqualTo(Renewal.LOST);
			assertThat(sent.sent()).hasSizeLessThanOrEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource
	void takeOverOfAnAbandonedUnitIsAFewStatements(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			String key = Requests.newKey();
			AcquireRequest abandoned = Requests.request(key, "u", Duration.ofMillis(1));
			Requests.take(provider, abandoned);
			while (provider.lock(key).isPresent()) {
				Thread.onSpinWait();
			}
			sent.sent();
			Requests.take(provider, Requests.request(key, "u"));
			assertThat(sent.sent()).hasSizeLessThanOrEqualTo(7);
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockRowAsGuardCostsTheCheckAlone(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			JdbcFenceGuard guard = JdbcFenceGuard.of((JdbcLockProvider) provider);
			Fence fence = Fences.of(Requests.take(provider, Requests.newKey()));
			sent.sent();
			guard.register(fence);
			assertThat(sent.sent()).as("a registration").isEmpty();
			guard.confirm(sent.getConnection(), fence, REMAINING);
			assertThat(sent.sent()).as("a check").hasSize((platform == JdbcPlatform.MYSQL) ? 2 : 1);
			guard.restore(sent.getConnection());
			assertThat(sent.sent()).as("what holds for the session").hasSize(isForSession(platform) ? 1 : 0);
		});
	}

	@ParameterizedTest
	@EnumSource
	void tableAsGuardCostsOneRegistrationAndOneCheck(JdbcPlatform platform) throws Exception {
		count(platform, (provider, sent) -> {
			try (JdbcFenceGuard guard = TestDatabase.guard(sent)) {
				String resource = Requests.newKey();
				guard.register(Fences.of(resource, 41));
				assertThat(sent.sent()).as("a new resource").hasSize(isFast(platform) ? 1 : 3);
				Fence fence = Fences.of(resource, 42);
				guard.register(fence);
				assertThat(sent.sent()).as("a registration").hasSize(1);
				guard.confirm(sent.getConnection(), fence, REMAINING);
				assertThat(sent.sent()).as("a check").hasSize((platform == JdbcPlatform.MYSQL) ? 2 : 1);
			}
			JdbcFenceGuard beside = JdbcFenceGuard.of((JdbcLockProvider) provider);
			Fence other = Fences.of(Requests.newKey(), "key", 41);
			beside.register(other);
			sent.sent();
			beside.register(other);
			assertThat(sent.sent()).as("beside the locks").hasSize(isFast(platform) ? 1 : 2);
		});
	}

	private static boolean isForSession(JdbcPlatform platform) {
		return platform == JdbcPlatform.MARIADB || platform == JdbcPlatform.MYSQL;
	}

	private static boolean isFast(JdbcPlatform platform) {
		return platform == JdbcPlatform.POSTGRESQL || platform == JdbcPlatform.MARIADB;
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void count(JdbcPlatform platform, Work work) throws Exception {
		count(TestDatabase.shared(platform), platform, work);
	}

	private static void count(TestDatabase database, JdbcPlatform platform, Work work) throws Exception {
		String url = database.url();
		String options = switch (platform) {
			case H2, POSTGRESQL -> "";
			case MARIADB, MYSQL -> "&sessionVariables=tx_isolation='READ-COMMITTED'";
		};
		try (CountingDataSource sent = new CountingDataSource(new DriverManagerDataSource(url + options));
				LockProvider provider = TestDatabase.provider(sent, PATIENT)) {
			provider.lock("warm-up");
			sent.sent();
			work.run(provider, sent);
		}
	}

	@FunctionalInterface
	private interface Work {

		void run(LockProvider provider, CountingDataSource sent) throws Exception;

	}

}
