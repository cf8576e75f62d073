package io.mutex.lab.baselines;

import java.time.Duration;
import java.util.Objects;
import java.util.Random;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.mutex.lab.Call;
import io.mutex.lab.Event.Kind;
import io.mutex.lab.Ledger;
import io.mutex.lab.RedisLedger;
import io.mutex.lab.Routine;
import io.mutex.lab.SqlLedger;
import io.mutex.redis.FencedRedisOperations;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * A process that takes the locks of another library: lock, read, compute, write, and
 * unlock in the end, as each documentation shows. Nothing but a token that the library
 * gives guards the data.
 */
public final class LockWorker extends Routine {

	private static final Duration WAIT = Duration.ofSeconds(8);

	private final Locks locks;

	private LockWorker(Locks locks, Ledger ledger) {
		super(ledger);
		this.locks = locks;
	}

	public static void main(String[] arguments) throws Exception {
		Library library = Library.valueOf(System.getProperty("lab.library"));
		String url = System.getProperty("spring.datasource.url", "");
		int port = Integer.getInteger("spring.data.redis.port");
		DataSource database = url.isEmpty() ? null : dataSource(url);
		RedisConnectionFactory redis = System.getProperty("mutex.provider").equals("redis") ? connections(port) : null;
		Locks locks = (redis != null) ? library.redis(redis, port) : library.jdbc(Objects.requireNonNull(database));
		Ledger ledger = (database != null) ? ledger(library, database) : ledger(library, Objects.requireNonNull(redis));
		new LockWorker(locks, ledger).play(arguments);
	}

	private static Ledger ledger(Library library, DataSource database) {
		JdbcTemplate jdbc = new JdbcTemplate(database);
		JdbcTransactionManager manager = new JdbcTransactionManager(database);
		Ledger plain = new SqlLedger(jdbc, manager);
		return library.hasTokens() ? TokenLedger.sql(plain, jdbc, manager) : plain;
	}

	private static Ledger ledger(Library library, RedisConnectionFactory redis) {
		StringRedisTemplate template = new StringRedisTemplate(redis);
		Ledger plain = new RedisLedger(FencedRedisOperations.unchecked(redis), template);
		return library.hasTokens() ? TokenLedger.redis(plain, template) : plain;
	}

	private static DataSource dataSource(String url) {
		HikariDataSource dataSource = new HikariDataSource();
		dataSource.setJdbcUrl(url);
		dataSource.setConnectionTimeout(2000);
		return dataSource;
	}

	private static RedisConnectionFactory connections(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().commandTimeout(Duration.ofSeconds(1)).build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	protected void write(Call call, int hold, Random random) {
		int millis = (int) Math.min(hold, this.locks.longestWork().toMillis());
		attempt(call, () -> {
			Grant grant = take(call.key());
			work(call, grant, () -> add(call, grant, millis));
		});
	}

	@Override
	protected void run(Call call, String unit) {
		// none of them knows what a unit is
	}

	private Grant take(String key) {
		try {
			return this.locks.take(key, WAIT).orElseThrow(NotTakenException::new);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private void work(Call call, Grant grant, Runnable body) {
		call.granted(grant);
		try {
			body.run();
		}
		finally {
			call.record(Kind.END, "");
			grant.release();
		}
	}

	@Override
	protected Kind kind(Call call, RuntimeException failure) {
		return (failure instanceof NotTakenException) ? Kind.REFUSED : super.kind(call, failure);
	}

	/**
	 * Others hold the lock.
	 */
	private static final class NotTakenException extends RuntimeException {

	}

}
