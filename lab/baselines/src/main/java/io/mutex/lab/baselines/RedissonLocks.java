package io.mutex.lab.baselines;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.mutex.lab.Provider;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The locks of Redisson, renewed by its watchdog.
 */
final class RedissonLocks implements Locks {

	private final RedissonClient redisson;

	private final boolean fenced;

	RedissonLocks(int port, boolean fenced) {
		Config config = new Config();
		config.setLockWatchdogTimeout(Provider.LEASE.toMillis());
		// as for the others here: half of a lease
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setTimeout(1000);
		this.redisson = Redisson.create(config);
		this.fenced = fenced;
	}

	@Override
	public Optional<Grant> take(String key, Duration wait) throws InterruptedException {
		if (this.fenced) {
			RFencedLock lock = this.redisson.getFencedLock("lab-lock:" + key);
			Long token = lock.tryLockAndGetToken(wait.toMillis(), TimeUnit.MILLISECONDS);
			return Optional.ofNullable(token).map((each) -> Grant.fenced(key, each, lock::unlock));
		}
		RLock lock = this.redisson.getLock("lab-lock:" + key);
		return lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS) ? Optional.of(Grant.renewed(key, lock::unlock))
				: Optional.empty();
	}

	@Override
	public Duration longestWork() {
		return Duration.ofSeconds(10);
	}

}
