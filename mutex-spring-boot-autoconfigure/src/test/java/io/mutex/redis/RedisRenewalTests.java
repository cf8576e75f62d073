package io.mutex.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.Experiments;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the renewal of many leases costs, and what it does not wait for.
 */
class RedisRenewalTests {

	private static final int BATCH = 500;

	private static TestServer server;

	private static Admin admin;

	private final String namespace = "ns-" + UUID.randomUUID();

	@BeforeAll
	static void start() {
		server = TestServers.newRedis("--appendonly", "no");
		admin = new Admin(server);
	}

	@AfterAll
	static void stop() {
		admin.close();
		server.close();
	}

	@ParameterizedTest
	@EnumSource
	void batchesCostOneRoundTripEachOnOneConnection(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			List<Grant> grants = IntStream.range(0, Experiments.rounds(1000, 10_000))
				.mapToObj((i) -> Requests.take(provider,
						(i % 2 == 0) ? Requests.of("k" + i) : Requests.of("k" + i, 2, null)))
				.toList();
			provider.renew(grants.subList(0, 1));
			admin.resetCounts();
			long began = System.nanoTime();
			for (int i = 0; i < grants.size(); i += BATCH) {
				assertThat(provider.renew(grants.subList(i, i + BATCH))).containsOnly(Renewal.RENEWED);
			}
			long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
			int batches = grants.size() / BATCH;
			Experiments.report("renewal through " + client,
					grants.size() + " leases in " + batches + " batches: " + admin.count("evalsha") + " scripts, "
							+ statistic("total_reads_processed") + " reads of the server, " + took + " ms");
			assertThat(admin.count("evalsha")).isLessThanOrEqualTo(batches * RedisKeys.BUCKETS);
			assertThat(statistic("total_connections_received")).as("connections opened").isZero();
			provider.close();
		}
	}

	@Test
	void fewLeasesDoNotWaitBehindWhatTheApplicationDoes() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant grant = Requests.take(provider, "a");
			RedisConnection shared = connections.factory().getConnection();
			CompletableFuture<?> blocked = CompletableFuture
				.supplyAsync(() -> shared.execute("WAIT", "1".getBytes(), Long.toString(600_000).getBytes()));
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> waiting() != null);
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			admin.jedis().clientUnblock(Long.parseLong(waiting()));
			blocked.handle((answer, failure) -> true).join();
			shared.close();
			provider.close();
		}
	}

	@Test
	void leasesDoNotWaitForAPoolThatIsInUse() {
		try (Connections connections = pool(4)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant grant = Requests.take(provider, "a");
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			List<RedisConnection> inUse = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				inUse.add(connections.factory().getConnection());
			}
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			inUse.forEach(RedisConnection::close);
			provider.close();
			IntStream.range(0, 4)
				.mapToObj((i) -> connections.factory().getConnection())
				.toList()
				.forEach(RedisConnection::close);
		}
	}

	@Test
	void smallPoolIsLeftToTheApplication() throws Exception {
		try (Connections connections = pool(1)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider);
			listener.start();
			assertThat(listener.answer()).isFalse();
			Grant grant = Requests.take(provider, "a");
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			connections.factory().getConnection().close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionThatWasLostIsMadeAnew(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant grant = Requests.take(provider, "a");
			for (int i = 0; i < 3; i++) {
				assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
				admin.killOthers();
			}
			provider.close();
		}
	}

	private static Connections pool(int size) {
		GenericObjectPoolConfig<Object> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(size);
		pool.setMaxWait(Duration.ofSeconds(10));
		JedisConnectionFactory factory = new JedisConnectionFactory(
				new RedisStandaloneConfiguration(server.host(), server.port()),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
		factory.afterPropertiesSet();
		factory.start();
		return new Connections(factory, factory::destroy);
	}

	private static @Nullable String waiting() {
		Matcher matcher = Pattern.compile("(?m)^id=(\\d+) .*cmd=wait").matcher(admin.jedis().clientList());
		return matcher.find() ? matcher.group(1) : null;
	}

	private static long statistic(String name) {
		Matcher matcher = Pattern.compile(name + ":(\\d+)").matcher(admin.jedis().info("stats"));
		return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
	}

}
