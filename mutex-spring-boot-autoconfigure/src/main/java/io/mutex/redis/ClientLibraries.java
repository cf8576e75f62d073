package io.mutex.redis;

import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * What only the client libraries know of a connection that has subscribed. Either of them
 * may be missing.
 */
final class ClientLibraries {

	private static final String PACKAGE = "org.springframework.data.redis.connection.";

	private ClientLibraries() {
	}

	private static boolean isOf(String library, RedisConnection connection) {
		return connection.getClass().getName().startsWith(PACKAGE + library);
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
	 * Ends a connection whose subscription has failed. Jedis would ask to unsubscribe,
	 * give the connection back without reading the answer, and so hand it to the next
	 * user of the pool.
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

		static boolean isOpen(RedisConnection connection) {
			return !(connection.getNativeConnection() instanceof RedisPubSubAsyncCommands<?, ?> commands)
					|| commands.getStatefulConnection().isOpen();
		}

	}

	private static final class OfJedis {

		// In a cluster the pool has it back before.
		static void discard(RedisConnection connection) {
			if (connection.getNativeConnection() instanceof Jedis jedis) {
				jedis.getConnection().setBroken();
				jedis.close();
			}
		}

	}

}
