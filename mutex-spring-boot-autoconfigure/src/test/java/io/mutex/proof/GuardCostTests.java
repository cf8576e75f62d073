package io.mutex.proof;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LockRequest;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.fence.TransactionGuard;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.proof.Guarding.Opened;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.RedisFenceGuard;
import io.mutex.testing.Experiments;
import io.mutex.transaction.CommitListenerPostProcessor;
import io.mutex.transaction.FenceCheck;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a guard costs: the same work under a lease that it checks and under one that it
 * does not, in turns.
 */
@Tag("experiment")
class GuardCostTests {

	private static final String KEY = "account";

	private static final int TURNS = Experiments.rounds(2, 50);

	private static final int WORKS = Experiments.rounds(10, 200);

	@TempDir
	Path directory;

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 1", "POSTGRESQL_UNDER_REDIS, 1", "MARIADB, 2", "MARIADB_UNDER_REDIS, 2", "H2, 1" })
	@DisplayName("a transaction costs one statement before its commit, and on MariaDB one more, which takes limits back")
	void transaction(Guarding guarding, int statements) {
		Addresses addresses = guarding.prepare(this.directory, List.of(KEY));
		HikariDataSource dataSource = Guarding.dataSource(addresses.data());
		Opened opened = guarding.openDatabase(addresses, dataSource, "proof-" + UUID.randomUUID());
		try {
			StatementCount counting = new StatementCount(dataSource);
			JdbcTemplate jdbc = new JdbcTemplate(counting);
			TransactionTemplate transactions = transactions(counting, (TransactionGuard) opened.guards().get(0));
			List<Integer> counts = new ArrayList<>();
			Turns turns = Turns.play(opened, (lease) -> {
				int before = counting.count();
				transactions.executeWithoutResult((status) -> {
					jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, KEY);
					jdbc.update("UPDATE account SET balance = balance + 1 WHERE id = ?", KEY);
				});
				counts.add(counting.count() - before - (lease.fences().isEmpty() ? 0 : statements));
			});
			assertThat(counts).as("statements, less those of the guard").containsOnly(2);
			Experiments.report("cost of the guard, transaction " + guarding,
					turns + ", " + statements + " statements more than 2");
		}
		finally {
			opened.close();
		}
	}

	private static TransactionTemplate transactions(StatementCount dataSource, TransactionGuard guard) {
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		new CommitListenerPostProcessor(new FenceCheck(() -> List.of(guard))).postProcessAfterInitialization(manager,
				"transactionManager");
		TransactionTemplate transactions = new TransactionTemplate(manager);
		transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		return transactions;
	}

	@Test
	void writeToRedisStaysOneCall() {
		Addresses addresses = Guarding.REDIS.prepare(this.directory, List.of());
		Opened opened = Guarding.REDIS.open(addresses, "proof-" + UUID.randomUUID());
		LettuceConnectionFactory connections = Store.connections(addresses.data());
		try {
			StringRedisTemplate plain = new StringRedisTemplate(connections);
			FencedRedisOperations fenced = new FencedRedisOperations((RedisFenceGuard) opened.guards().get(0));
			String key = FencedRedisOperations.key(KEY, UUID.randomUUID().toString());
			Turns turns = Turns.play(opened, (lease) -> {
				if (lease.fences().isEmpty()) {
					plain.opsForValue().set(key, "value");
				}
				else {
					fenced.on(lease).set(key, "value");
				}
			});
			assertThat(turns.guarded).hasSize(TURNS * WORKS);
			Experiments.report("cost of the guard, write to Redis", turns.toString());
		}
		finally {
			connections.destroy();
			opened.close();
		}
	}

	/**
	 * How long the work took, in nanoseconds.
	 *
	 * @param plain without the guard
	 * @param guarded with it
	 */
	private record Turns(List<Long> plain, List<Long> guarded) {

		static Turns play(Opened opened, Consumer<Lease> work) {
			Turns turns = new Turns(new ArrayList<>(), new ArrayList<>());
			try (LockEngine engine = new LockEngine(opened.locks(), EngineSettings.defaults("instance"), List.of())) {
				engine.guardBy(opened.guards());
				for (int turn = 0; turn < TURNS; turn++) {
					engine.execute(LockRequest.of(KEY).withFencing(FencingPolicy.NONE),
							(lease) -> time(lease, work, turns.plain));
					engine.execute(LockRequest.of(KEY), (lease) -> time(lease, work, turns.guarded));
				}
			}
			return turns;
		}

		private static boolean time(Lease lease, Consumer<Lease> work, List<Long> times) {
			for (int count = 0; count < WORKS; count++) {
				long begin = System.nanoTime();
				work.accept(lease);
				times.add(System.nanoTime() - begin);
			}
			return true;
		}

		private static long median(List<Long> times) {
			return TimeUnit.NANOSECONDS.toMicros(times.stream().sorted().toList().get(times.size() / 2));
		}

		@Override
		public String toString() {
			return "p50 " + median(this.plain) + " us without, " + median(this.guarded) + " us with it";
		}

	}

}
