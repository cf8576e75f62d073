package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

/**
 * A subscription on a connection of its own. Jedis reads on the thread that subscribes,
 * and no interrupt ends that; Lettuce subscribes and returns. So both have a thread of
 * their own, and whoever waits for its end can be interrupted.
 */
final class RedisSubscription implements MessageListener, SubscriptionListener {

	private static final long RETRY_MILLIS = 100;

	private static final int RETRIES = 30;

	private final Thread thread = new Thread(this::run, "mutex-redis-subscription");

	private final CountDownLatch ended = new CountDownLatch(1);

	private final RedisConnectionFactory connectionFactory;

	private final byte[] channel;

	private final Consumer<String> listener;

	private volatile @Nullable RedisConnection connection;

	private volatile boolean reading;

	private volatile boolean confirmed;

	private final AtomicBoolean unsubscribed = new AtomicBoolean();

	private volatile @Nullable RuntimeException failure;

	RedisSubscription(RedisConnectionFactory connectionFactory, String channel, Consumer<String> listener) {
		this.connectionFactory = connectionFactory;
		this.channel = RedisKeys.bytes(channel);
		this.listener = listener;
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	private void run() {
		try {
			RedisConnection connection = this.connectionFactory.getConnection();
			this.connection = connection;
			try {
				subscribe(connection);
			}
			finally {
				// not back to a pool: an answer may be left to read
				ClientLibraries.discard(connection);
			}
		}
		catch (RuntimeException ex) {
			this.failure = ex;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void subscribe(RedisConnection connection) throws InterruptedException {
		this.reading = true;
		connection.subscribe(this, this.channel);
		this.reading = false;
		// Lettuce is still at it, and ends when the connection is closed.
		boolean subscribed = true;
		while (subscribed && !this.ended.await(1, TimeUnit.SECONDS)) {
			subscribed = connection.isSubscribed() && ClientLibraries.isOpen(connection);
		}
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		this.confirmed = true;
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		this.listener.accept(new String(message.getBody(), StandardCharsets.UTF_8));
	}

	/**
	 * Waits for the end.
	 * @throws InterruptedException if the waiting thread was interrupted
	 * @throws RuntimeException if the connection failed
	 */
	void await() throws InterruptedException {
		this.thread.join();
		RuntimeException failure = this.failure;
		if (failure != null && this.ended.getCount() > 0) {
			throw failure;
		}
	}

	/**
	 * Ends the subscription. A thread that a silent server keeps is left behind, and ends
	 * with its connection.
	 */
	void end() {
		this.ended.countDown();
		boolean interrupted = false;
		// Again and again, since the subscription may be on the way to the server.
		for (int i = 0; this.thread.isAlive() && i < RETRIES; i++) {
			unsubscribe();
			try {
				this.thread.join(RETRY_MILLIS);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	// Not before the server has confirmed, and once: a pool of a cluster would get a
	// connection back that has subscribed after all, or has an answer left to read.
	private void unsubscribe() {
		RedisConnection connection = this.connection;
		Subscription subscription = (this.reading && this.confirmed && connection != null)
				? connection.getSubscription() : null;
		try {
			if (subscription != null && subscription.isAlive() && this.unsubscribed.compareAndSet(false, true)) {
				subscription.unsubscribe();
			}
		}
		catch (RuntimeException ex) {
			// It is over by itself.
		}
	}

}
