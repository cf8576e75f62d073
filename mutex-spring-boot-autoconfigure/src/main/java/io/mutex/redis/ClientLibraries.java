package io.mutex.redis;

import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * What only the client libraries know of a connection that has subscribed. Either of them
 * may be missing.
 */
final class ClientLibraries {

	private static final String PACKAGE = "org.springframework.data.redis.connection.";

	/** One each for renewals, for notifications and for all else, and one in reserve. */
	private static final int SMALLEST_POOL = 4;

	private static final int UNLIMITED = -1;

	private ClientLibraries() {
	}

	private static boolean isOf(String library, Object object) {
		for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
			if (type.getName().startsWith(PACKAGE + library)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether connections may be kept for long.
	 * @param factory where they come from
	 * @return {@code false} if they belong to a pool of less than {@value #SMALLEST_POOL}
	 */
	static boolean spares(RedisConnectionFactory factory) {
		int size = UNLIMITED;
		if (isOf("lettuce", factory)) {
			size = OfLettuce.poolSize(factory);
		}
		else if (isOf("jedis", factory)) {
			size = OfJedis.poolSize(factory);
		}
		return size < 0 || size >= SMALLEST_POOL;
	}

	/**
	 * Whether a connection may be kept for writing.
	 * @param factory where it comes from
	 * @return {@code false} also where a kept one would stay with a master that Sentinel
	 * has replaced, since only the pool of Jedis gets to know that
	 */
	static boolean keepsUpWithTheMaster(RedisConnectionFactory factory) {
		return spares(factory) && !(isOf("jedis", factory) && OfJedis.isSentinelAware(factory));
	}

	/**
	 * Whether a connection is open. With Lettuce, one that is lost is made anew behind
	 * its back, but not after its factory was stopped.
	 * @param connection the connection
	 * @return {@code false} while it is broken, and once it is closed; {@code true} if
	 * that is not known
	 */
	static boolean isOpen(RedisConnection connection) {
		return !isOf("lettuce", connection) || OfLettuce.isOpen(connection);
	}

	/**
	 * Ends a connection that was used for a subscription. With Jedis, closing one whose
	 * subscription failed would ask to unsubscribe, and hand the answer to the next user
	 * of the pool.
	 * @param connection the connection
	 */
	static void discard(RedisConnection connection) {
		if (isOf("jedis", connection)) {
			OfJedis.discard(connection);
		}
		else {
			connection.close();
		}
	}

	private static final class OfLettuce {

		static int poolSize(RedisConnectionFactory factory) {
			return (factory instanceof LettuceConnectionFactory lettuce
					&& lettuce.getClientConfiguration() instanceof LettucePoolingClientConfiguration pooling)
							? pooling.getPoolConfig().getMaxTotal() : UNLIMITED;
		}

		static boolean isOpen(RedisConnection connection) {
			return !(connection.getNativeConnection() instanceof RedisPubSubAsyncCommands<?, ?> commands)
					|| commands.getStatefulConnection().isOpen();
		}

	}

	private static final class OfJedis {

		static boolean isSentinelAware(RedisConnectionFactory factory) {
			return factory instanceof JedisConnectionFactory jedis && jedis.isRedisSentinelAware();
		}

		static int poolSize(RedisConnectionFactory factory) {
			if (factory instanceof JedisConnectionFactory jedis && jedis.getUsePool()) {
				GenericObjectPoolConfig<?> pool = jedis.getPoolConfig();
				return (pool != null) ? pool.getMaxTotal() : GenericObjectPoolConfig.DEFAULT_MAX_TOTAL;
			}
			return UNLIMITED;
		}

		// A client that has the pool inside, as that of a cluster, has given it back
		// before.
		static void discard(RedisConnection connection) {
			if (connection.getNativeConnection() instanceof Jedis jedis) {
				jedis.getConnection().setBroken();
				jedis.close();
			}
		}

	}

}
