package io.mutex.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.mutex.redis.RedisLockProvider;
import io.mutex.redis.RedisSettings;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * The calls to Redis that are measured. All but Redisson's go through one Lettuce
 * connection.
 */
final class RedisStore implements AutoCloseable {

	private static final String SCRIPT = "return redis.call('HSET', KEYS[1], 'v', ARGV[1])";

	private final LettuceConnectionFactory connections;

	private final RedissonClient redisson;

	private final MutexCalls mutex;

	private final LockProvider shedLock;

	private final RedisLockRegistry integration;

	private volatile String sha = "";

	RedisStore(String host, int port) {
		this.connections = connections(host, port);
		Config config = new Config();
		config.useSingleServer().setAddress("redis://" + host + ":" + port);
		this.redisson = Redisson.create(config);
		this.mutex = new MutexCalls(new RedisLockProvider(this.connections, "bench", RedisSettings.defaults()));
		this.shedLock = new net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider(this.connections, "bench");
		this.integration = new RedisLockRegistry(this.connections, "bench-integration");
	}

	static LettuceConnectionFactory connections(String host, int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(new RedisStandaloneConfiguration(host, port),
				LettuceClientConfiguration.builder().commandTimeout(Duration.ofSeconds(5)).build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	MutexCalls mutex() {
		return this.mutex;
	}

	/**
	 * Two scripts that set a field, called through Lettuce itself.
	 * @param key the key
	 * @return the work
	 */
	@SuppressWarnings("unchecked")
	Work bareLettuce(String key) {
		RedisAsyncCommands<byte[], byte[]> commands;
		try (RedisConnection connection = this.connections.getConnection()) {
			commands = (RedisAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
		}
		byte[][] keys = { key.getBytes(StandardCharsets.UTF_8) };
		byte[] value = "1".getBytes(StandardCharsets.UTF_8);
		return (body) -> {
			String sha = sha();
			commands.evalsha(sha, ScriptOutputType.INTEGER, keys, value).get(5, TimeUnit.SECONDS);
			body.run();
			commands.evalsha(sha, ScriptOutputType.INTEGER, keys, value).get(5, TimeUnit.SECONDS);
		};
	}

	/**
	 * The same scripts, called through Spring Data Redis as the provider does.
	 * @param key the key
	 * @return the work
	 */
	Work bareSpring(String key) {
		return (body) -> {
			bareSpringCall(key);
			body.run();
			bareSpringCall(key);
		};
	}

	private void bareSpringCall(String key) {
		try (RedisConnection connection = this.connections.getConnection()) {
			connection.scriptingCommands()
				.evalSha(sha(), ReturnType.INTEGER, 1, key.getBytes(StandardCharsets.UTF_8),
						"1".getBytes(StandardCharsets.UTF_8));
		}
	}

	private String sha() {
		if (this.sha.isEmpty()) {
			try (RedisConnection connection = this.connections.getConnection()) {
				String loaded = connection.scriptingCommands().scriptLoad(SCRIPT.getBytes(StandardCharsets.UTF_8));
				this.sha = (loaded != null) ? loaded : "";
			}
		}
		return this.sha;
	}

	Work shedLock(String key) {
		return shedLock(this.shedLock, key);
	}

	static Work shedLock(LockProvider provider, String key) {
		return (body) -> {
			LockConfiguration configuration = new LockConfiguration(Instant.now(), key, Duration.ofSeconds(30),
					Duration.ZERO);
			net.javacrumbs.shedlock.core.SimpleLock lock = provider.lock(configuration).orElseThrow();
			body.run();
			lock.unlock();
		};
	}

	Work redisson(String key) {
		return of(this.redisson.getLock("redisson:" + key));
	}

	Work redissonSpin(String key) {
		return of(this.redisson.getSpinLock("redisson-spin:" + key));
	}

	Work redissonFenced(String key) {
		RFencedLock lock = this.redisson.getFencedLock("redisson-fenced:" + key);
		return (body) -> {
			lock.lockAndGetToken();
			try {
				body.run();
			}
			finally {
				lock.unlock();
			}
		};
	}

	static Work of(Lock lock) {
		return (body) -> {
			lock.lock();
			try {
				body.run();
			}
			finally {
				lock.unlock();
			}
		};
	}

	Work integration(String key) {
		return (body) -> of(this.integration.obtain(key)).run(body);
	}

	@Override
	public void close() {
		this.mutex.close();
		this.integration.destroy();
		this.redisson.shutdown();
		this.connections.destroy();
	}

}
