package io.mutex.lab.baselines;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import javax.sql.DataSource;

import io.mutex.lab.Provider;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * The lock registries of Spring Integration. That of Redis renews its locks by a
 * scheduler; those in a database are renewed by nobody but the thread that holds them, so
 * the work is short there.
 */
final class IntegrationLocks implements Locks {

	private final LockRegistry<DistributedLock> registry;

	private final @Nullable Duration limit;

	private IntegrationLocks(LockRegistry<DistributedLock> registry, @Nullable Duration limit) {
		this.registry = registry;
		this.limit = limit;
	}

	static IntegrationLocks jdbc(DataSource dataSource) {
		ResourceDatabasePopulator schema = new ResourceDatabasePopulator(
				new ClassPathResource("org/springframework/integration/jdbc/schema-postgresql.sql"));
		Tables.create(() -> schema.execute(dataSource));
		DefaultLockRepository repository = new DefaultLockRepository(dataSource);
		repository.setTransactionManager(new JdbcTransactionManager(dataSource));
		// as its documentation has it for PostgreSQL
		repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return new IntegrationLocks(new JdbcLockRegistry(repository, Provider.LEASE), Provider.LEASE);
	}

	static IntegrationLocks redis(RedisConnectionFactory connections) {
		RedisLockRegistry registry = new RedisLockRegistry(connections, "lab", Provider.LEASE);
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setPoolSize(3);
		scheduler.setDaemon(true);
		scheduler.afterPropertiesSet();
		registry.setRenewalTaskScheduler(scheduler);
		return new IntegrationLocks(registry, null);
	}

	@Override
	public Optional<Grant> take(String key, Duration wait) throws InterruptedException {
		Lock lock = this.registry.obtain(key);
		long begin = System.nanoTime();
		if (!lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
			return Optional.empty();
		}
		return Optional.of((this.limit != null) ? Grant.limited(key, begin, this.limit, lock::unlock)
				: Grant.renewed(key, lock::unlock));
	}

	@Override
	public Duration longestWork() {
		return (this.limit != null) ? this.limit.dividedBy(4) : Duration.ofSeconds(10);
	}

}
