package io.mutex.redis;

import java.time.Duration;

import io.mutex.testing.TestServer;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The two client libraries.
 */
enum RedisClient {

	LETTUCE {

		@Override
		Connections connect(RedisConfiguration configuration) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration,
					LettuceClientConfiguration.builder().commandTimeout(TIMEOUT).build());
			return start(factory);
		}

	},

	JEDIS {

		@Override
		Connections connect(RedisConfiguration configuration) {
			JedisClientConfiguration client = JedisClientConfiguration.builder()
				.connectTimeout(TIMEOUT)
				.readTimeout(TIMEOUT)
				.usePooling()
				.build();
			JedisConnectionFactory factory = (configuration instanceof RedisClusterConfiguration cluster)
					? new JedisConnectionFactory(cluster, client)
					: new JedisConnectionFactory((RedisStandaloneConfiguration) configuration, client);
			factory.afterPropertiesSet();
			factory.start();
			return new Connections(factory, factory::destroy);
		}

	};

	static final Duration TIMEOUT = Duration.ofSeconds(5);

	abstract Connections connect(RedisConfiguration configuration);

	Connections connect(TestServer server) {
		return connect(new RedisStandaloneConfiguration(server.host(), server.port()));
	}

	static Connections start(LettuceConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return new Connections(factory, factory::destroy);
	}

	/**
	 * A connection factory to be closed.
	 *
	 * @param factory the factory
	 * @param destroyer what closes it
	 */
	record Connections(RedisConnectionFactory factory, Runnable destroyer) implements AutoCloseable {

		RedisLockProvider provider(String namespace) {
			return new RedisLockProvider(this.factory, namespace, RedisSettings.defaults());
		}

		RedisFenceGuard guard(String namespace) {
			return new RedisFenceGuard(this.factory, namespace, RedisSettings.defaults(), Duration.ofDays(90));
		}

		@Override
		public void close() {
			this.destroyer.run();
		}

	}

}
