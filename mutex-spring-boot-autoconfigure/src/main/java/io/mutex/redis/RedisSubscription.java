package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.context.Lifecycle;
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
 * <p>
 * Only the thread that reads asks to unsubscribe, when a message without a body wakes it
 * and it is to end. Jedis shares one output buffer without a lock, and a pool may get the
 * connection back with the answer: what another thread wrote could be sent twice, and the
 * second answer be read by the next user of the pool. A factory that was stopped sends no
 * message, but has closed its pool as well, so that another thread may ask then.
 */
final class RedisSubscription implements MessageListener, SubscriptionListener {

	private static final long RETRY_MILLIS = 100;

	private static final long PATIENCE_MILLIS = 3000;

	private static final byte[] FAREWELL = {};

	private final Thread thread = new Thread(this::run, "mutex-redis-subscription");

	private final CountDownLatch ended = new CountDownLatch(1);

	private final RedisConnectionFactory connectionFactory;

	private final byte[] channel;

	private final Consumer<String> listener;

	private volatile @Nullable RedisConnection connection;

	private volatile boolean reading;

	private volatile boolean confirmed;

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
				// Whoever may not send cannot be told to end, nor of a release.
				connection.publish(this.channel, FAREWELL);
				subscribe(connection);
			}
			finally {
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
		if (isEnded()) {
			return;
		}
		connection.subscribe(this, this.channel);
		this.reading = false;
		// Lettuce is still at it, and ends when the connection is closed.
		boolean subscribed = true;
		while (subscribed && this.failure == null && !this.ended.await(1, TimeUnit.SECONDS)) {
			subscribed = connection.isSubscribed() && ClientLibraries.isOpen(connection);
		}
	}

	private boolean isEnded() {
		return this.ended.getCount() == 0;
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		this.confirmed = true;
		// What was sent before was not for it.
		if (isEnded()) {
			unsubscribeHere();
		}
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		byte[] body = message.getBody();
		if (body.length == 0) {
			// One that is late was for a subscription before, or for none.
			if (isEnded()) {
				unsubscribeHere();
			}
			return;
		}
		try {
			this.listener.accept(new String(body, StandardCharsets.UTF_8));
		}
		catch (RuntimeException ex) {
			this.failure = ex;
			unsubscribeHere();
		}
	}

	// Lettuce calls on a thread that must not wait, and needs none of it.
	private void unsubscribeHere() {
		if (Thread.currentThread() == this.thread) {
			unsubscribe();
		}
	}

	private void unsubscribe() {
		RedisConnection connection = this.connection;
		Subscription subscription = (connection != null) ? connection.getSubscription() : null;
		if (subscription != null) {
			subscription.unsubscribe();
		}
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
	 * Ends the subscription, and waits for that up to {@value #PATIENCE_MILLIS} ms. A
	 * thread that a silent server keeps is left behind, and ends with its connection.
	 */
	void end() {
		this.ended.countDown();
		if (this.reading && this.thread.isAlive()) {
			// Not here, where a pool without a free connection would block.
			Thread farewell = new Thread(this::tellToEnd, "mutex-redis-unsubscription");
			farewell.setDaemon(true);
			farewell.start();
		}
		try {
			this.thread.join(PATIENCE_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void tellToEnd() {
		long start = System.nanoTime();
		try {
			while (this.thread.isAlive()
					&& System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS)) {
				if (isFactoryRunning()) {
					sendFarewell();
				}
				else if (this.confirmed) {
					unsubscribe();
				}
				this.thread.join(RETRY_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			// The connection has ended.
		}
	}

	private boolean isFactoryRunning() {
		return !(this.connectionFactory instanceof Lifecycle lifecycle) || lifecycle.isRunning();
	}

	private void sendFarewell() {
		try (RedisConnection connection = this.connectionFactory.getConnection()) {
			connection.publish(this.channel, FAREWELL);
		}
		catch (RuntimeException ex) {
			// A server that cannot be reached has ended the subscription itself.
		}
	}

}
