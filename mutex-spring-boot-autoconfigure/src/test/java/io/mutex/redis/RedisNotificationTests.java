package io.mutex.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Protocol;

import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.Subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisNotifications}.
 */
class RedisNotificationTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final RunUnit UNIT = RunUnit.of("u");

	private static TestServer server;

	private static Admin admin;

	private final String namespace = "ns-" + UUID.randomUUID();

	@BeforeAll
	static void start() {
		server = TestServers.newRedis();
		admin = new Admin(server);
	}

	@AfterAll
	static void stop() {
		admin.close();
		server.close();
	}

	@ParameterizedTest
	@EnumSource
	void everyWayToFreeAKeyIsReportedToItsNextHolder(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = started(provider);
			Grant released = listener.waitFor(Requests.take(provider, "released"));
			provider.release("released", released.nonce(), true);
			listener.assertReported("released");
			Grant completed = listener.waitFor(Requests.take(provider, Requests.of("completed", UNIT)));
			provider.complete(completed, "u");
			listener.assertReported("completed");
			Grant failed = listener.waitFor(Requests.take(provider, Requests.of("failed", UNIT)));
			provider.fail(failed, "u", "broken", Duration.ZERO);
			listener.assertReported("failed");
			listener.waitFor(Requests.take(provider, "forced"));
			provider.forceRelease("forced");
			listener.assertReported("forced");
			Grant reader = listener.waitFor(Requests.take(provider, Requests.of("read", 2, null)));
			provider.release("read", reader.nonce(), true);
			listener.assertReported("read");
			listener.waitFor(Requests.take(provider, Requests.of("forced to go", 2, null)));
			provider.forceRelease("forced to go");
			listener.assertReported("forced to go");
			provider.close();
			assertThat(listener.answer()).isTrue();
			awaitSubscribers(listener, 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsSentWhereNobodyWaitsOrWhileTheStoreIsIdle(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			started(provider);
			Grant grant = Requests.take(provider, "a");
			admin.resetCounts();
			TimeUnit.SECONDS.sleep(2);
			// A pool of Jedis pings what is idle.
			assertThat(admin.jedis().info("commandstats").lines().filter((line) -> line.startsWith("cmdstat_")))
				.allMatch((line) -> line.matches("cmdstat_(info|config|ping).*"));
			provider.release("a", grant.nonce(), true);
			assertThat(admin.count("publish")).isZero();
			provider.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionThatEndsIsNoticedOrMadeAnew(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = started(provider);
			killSubscribers();
			Awaitility.await().atMost(PATIENCE).until(() -> {
				if (listener.hasEnded()) {
					listener.start();
				}
				Grant grant = listener.waitFor(Requests.take(provider, "a"));
				provider.release("a", grant.nonce(), true);
				String report = listener.reports().poll(100, TimeUnit.MILLISECONDS);
				Grant next = Requests.take(provider, Requests.of("a", 1, listener.waiter()));
				provider.release("a", next.nonce(), true);
				return report != null;
			});
			provider.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void listeningMayEndAtAnyMomentAndLeavesTheConnectionsClean(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider);
			for (int i = 0; i < 20; i++) {
				Thread thread = listener.start();
				TimeUnit.MICROSECONDS.sleep(300 * i);
				thread.interrupt();
				Grant grant = Requests.take(provider, "a");
				thread.join();
				assertThat(provider.release("a", grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			}
			awaitSubscribers(listener, 0);
			for (int i = 0; i < 9; i++) {
				FullCycle.run(provider, "k" + i);
			}
		}
	}

	// Jedis shares a buffer without a lock: what another thread asks may be sent twice,
	// and
	// the second answer be read by the next user of the pool.
	@ParameterizedTest
	@EnumSource
	void onlyTheThreadThatReadsAsksToUnsubscribe(RedisClient client) throws Exception {
		Queue<String> threads = new ConcurrentLinkedQueue<>();
		try (Connections connections = client.connect(server)) {
			RedisConnectionFactory factory = watched(RedisConnectionFactory.class, connections.factory(), threads);
			RedisLockProvider provider = new RedisLockProvider(factory, this.namespace, RedisSettings.defaults());
			for (int i = 0; i < 5; i++) {
				ReleaseListener listener = new ReleaseListener(provider);
				Thread thread = listener.start();
				if (i > 0) {
					awaitSubscribers(listener, 1);
				}
				thread.interrupt();
				thread.join();
				awaitSubscribers(listener, 0);
			}
		}
		assertThat(threads).allMatch("mutex-redis-subscription"::equals);
		if (client == RedisClient.JEDIS) {
			assertThat(threads).hasSizeGreaterThanOrEqualTo(4);
		}
	}

	// Every interface of a result is passed on, so that connections and subscriptions are
	// watched too.
	private static <T> T watched(Class<T> type, Object target, Queue<String> unsubscribing) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (method.getName().equals("unsubscribe")) {
					unsubscribing.add(Thread.currentThread().getName());
				}
				Object result;
				try {
					result = method.invoke(target, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
				Class<?> returned = method.getReturnType();
				boolean watch = returned == RedisConnection.class || returned == Subscription.class;
				return (watch && result != null) ? watched(returned, result, unsubscribing) : result;
			}));
	}

	@ParameterizedTest
	@EnumSource
	void listenerThatFailsEndsTheSubscriptionAndLeavesTheConnectionsClean(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider, (key) -> {
				throw new IllegalStateException("on purpose");
			});
			listener.start();
			awaitSubscribers(listener, 1);
			admin.jedis().publish(channel(listener), "a");
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(listener::answer)
				.withStackTraceContaining("on purpose");
			awaitSubscribers(listener, 0);
			for (int i = 0; i < 9; i++) {
				FullCycle.run(provider, "k" + i);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void emptyMessageThatIsLateEndsNothing(RedisClient client) throws Exception {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = started(provider);
			admin.jedis().publish(channel(listener), "");
			Grant grant = listener.waitFor(Requests.take(provider, "a"));
			provider.release("a", grant.nonce(), true);
			listener.assertReported("a");
			assertThat(listener.hasEnded()).isFalse();
			provider.close();
		}
	}

	// As an application ends: its lifecycle stops the factory before the provider is
	// closed.
	@ParameterizedTest
	@EnumSource
	void factoryThatIsStoppedFirstLeavesNoSubscriptionBehind(RedisClient client) throws Exception {
		Connections connections = client.connect(server);
		RedisLockProvider provider = connections.provider(this.namespace);
		ReleaseListener listener = new ReleaseListener(provider);
		Thread thread = listener.start();
		awaitSubscribers(listener, 1);
		((Lifecycle) connections.factory()).stop();
		thread.interrupt();
		provider.close();
		connections.close();
		Awaitility.await().atMost(PATIENCE).until(listener::hasEnded);
		awaitSubscribers(listener, 0);
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, resetchannels", "LETTUCE, -publish", "JEDIS, resetchannels", "JEDIS, -publish" })
	void serverThatAllowsNoChannelsReportsNothingAndFreesKeys(RedisClient client, String rule) throws Exception {
		String user = "user-" + UUID.randomUUID();
		admin.jedis()
			.sendCommand(Protocol.Command.ACL, "SETUSER", user, "on", ">secret", "~mutex:*", "&*", "+@all", rule);
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername(user);
		configuration.setPassword("secret");
		try (Connections connections = client.connect(configuration)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider);
			listener.start();
			assertThat(listener.answer()).isFalse();
			Grant grant = listener.waitFor(Requests.take(provider, "a"));
			assertThat(provider.release("a", grant.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(provider.lock("a")).isEmpty();
			for (int i = 0; i < 9; i++) {
				FullCycle.run(provider, "k" + i);
			}
		}
	}

	private ReleaseListener started(RedisLockProvider provider) {
		ReleaseListener listener = new ReleaseListener(provider);
		listener.start();
		awaitSubscribers(listener, 1);
		return listener;
	}

	private void awaitSubscribers(ReleaseListener listener, long subscribers) {
		String channel = channel(listener);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> admin.jedis().pubsubNumSub(channel).getOrDefault(channel, 0L) == subscribers);
	}

	private String channel(ReleaseListener listener) {
		return new RedisKeys("mutex", this.namespace).channel(listener.waiter());
	}

	private static void killSubscribers() {
		admin.jedis().sendCommand(Protocol.Command.CLIENT, "KILL", "TYPE", "pubsub");
	}

}
