package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;

import io.mutex.LockProvider;
import io.mutex.file.FileLockProvider;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.redis.RedisLockProvider;
import io.mutex.redis.RedisSettings;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The stores that several processes share.
 */
public enum Store {

	FILE {

		@Override
		public String prepare(Path directory) {
			return directory.resolve("locks").toString();
		}

	},

	H2 {

		@Override
		public String prepare(Path directory) {
			return withTables("jdbc:h2:file:" + directory.resolve("h2") + ";AUTO_SERVER=TRUE");
		}

	},

	POSTGRESQL {

		@Override
		public String prepare(Path directory) {
			return withTables(TestServers.postgres().newDatabase());
		}

	},

	MARIADB {

		@Override
		public String prepare(Path directory) {
			return withTables(TestServers.mariadb().newDatabase());
		}

	},

	REDIS {

		@Override
		public String prepare(Path directory) {
			return address(TestServers.redis());
		}

	};

	/**
	 * Makes a place that no other test uses, but for Redis, where the namespace does.
	 * @param directory where files can be
	 * @return the address for {@link #open(String, String)}
	 */
	public abstract String prepare(Path directory);

	/**
	 * Opens a provider, in any process of this host.
	 * @param address where
	 * @param namespace the namespace
	 * @return the provider
	 */
	public LockProvider open(String address, String namespace) {
		return switch (this) {
			case FILE -> new FileLockProvider(Path.of(address), namespace, false);
			case REDIS -> redis(address, namespace);
			case H2, POSTGRESQL, MARIADB ->
				new JdbcLockProvider(new DriverManagerDataSource(address), namespace, JdbcSettings.defaults());
		};
	}

	static String withTables(String url) {
		JdbcSchema.create(new DriverManagerDataSource(url), JdbcSettings.defaults());
		return url;
	}

	static String address(TestServer redis) {
		return redis.host() + ":" + redis.port();
	}

	/**
	 * Connects to a Redis.
	 * @param address host and port
	 * @return the connections, started
	 */
	static LettuceConnectionFactory connections(String address) {
		int colon = address.lastIndexOf(':');
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(address.substring(0, colon),
						Integer.parseInt(address.substring(colon + 1))),
				LettuceClientConfiguration.builder().commandTimeout(Duration.ofSeconds(2)).build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static LockProvider redis(String address, String namespace) {
		LettuceConnectionFactory factory = connections(address);
		return Between.on(new RedisLockProvider(factory, namespace, RedisSettings.defaults()), (operation, store) -> {
			Object answer = store.call();
			if (operation.equals("close")) {
				factory.destroy();
			}
			return answer;
		});
	}

}
