package io.mutex.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Tells waiters of the keys whose next holder they are, from channels of the server. In a
 * cluster every node passes on what any of them is told, so that one subscription at one
 * node hears of all keys.
 */
final class RedisNotifications implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisNotifications.class);

	private final RedisConnectionFactory connectionFactory;

	private final Set<RedisSubscription> open = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	RedisNotifications(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/**
	 * Listens until this is closed, the connection ends or the thread is interrupted.
	 * @param channel the channel
	 * @param released told each message
	 * @return {@code false} if the server does not allow it, or no connection can be
	 * spared
	 * @throws InterruptedException if the thread was interrupted
	 */
	boolean listen(String channel, Consumer<String> released) throws InterruptedException {
		if (!ClientLibraries.spares(this.connectionFactory)) {
			logger.info("The pool of connections to redis is too small to keep one for notifications, so that waiters"
					+ " learn of a release by asking only. provider=redis");
			return false;
		}
		RedisSubscription subscription = new RedisSubscription(this.connectionFactory, channel, released);
		this.open.add(subscription);
		try {
			subscription.start();
			if (this.closed) {
				subscription.end();
			}
			subscription.await();
			return true;
		}
		catch (RuntimeException ex) {
			if (RedisFailures.isRefusal(RedisFailures.texts(ex))) {
				logger.info("Redis allows no subscription, so that waiters learn of a release by asking only: allow the"
						+ " user of the connection SUBSCRIBE, PUBLISH and the channels that begin with"
						+ " mutex.redis.key-prefix (ACL SETUSER … +subscribe +publish &<prefix>:*). provider=redis");
				return false;
			}
			throw RedisFailures.translate(null, ex);
		}
		finally {
			this.open.remove(subscription);
			subscription.end();
		}
	}

	@Override
	public void close() {
		this.closed = true;
		this.open.forEach(RedisSubscription::end);
	}

}
