package io.mutex.lab.baselines;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import javax.sql.DataSource;

import io.mutex.lab.Provider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock. It never waits, so the worker asks again and again; its locks are held for
 * {@code lockAtMostFor}. What keeps them alive needs half a minute and more, so nobody
 * renews them here, and the work is short.
 */
final class ShedLocks implements Locks {

	private static final String TABLE = "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL,"
			+ " lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL,"
			+ " PRIMARY KEY (name))";

	private static final long POLL_MILLIS = 50;

	private final LockProvider provider;

	private ShedLocks(LockProvider provider) {
		this.provider = provider;
	}

	static ShedLocks jdbc(DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		Tables.create(() -> jdbc.execute(TABLE));
		// who has locked is the name of the host otherwise, and all workers have that
		String owner = "worker-" + ProcessHandle.current().pid();
		return new ShedLocks(new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(jdbc)
			.usingDbTime()
			.withLockedByValue(owner)
			.build()));
	}

	static ShedLocks redis(RedisConnectionFactory connections) {
		return new ShedLocks(new RedisLockProvider.Builder(connections).environment("lab").safeUpdate(true).build());
	}

	@Override
	public Optional<Grant> take(String key, Duration wait) throws InterruptedException {
		long begin = System.nanoTime();
		Optional<Grant> grant = lock(key);
		while (grant.isEmpty() && System.nanoTime() - begin < wait.toNanos()) {
			Thread.sleep(POLL_MILLIS);
			grant = lock(key);
		}
		return grant;
	}

	private Optional<Grant> lock(String key) {
		long asked = System.nanoTime();
		Optional<SimpleLock> lock = this.provider
			.lock(new LockConfiguration(Instant.now(), key, Provider.LEASE, Duration.ZERO));
		return lock.map((each) -> Grant.limited(key, asked, Provider.LEASE, each::unlock));
	}

	@Override
	public Duration longestWork() {
		return Provider.LEASE.dividedBy(4);
	}

}
