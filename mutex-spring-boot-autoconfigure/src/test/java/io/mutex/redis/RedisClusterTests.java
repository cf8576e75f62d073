package io.mutex.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The Redis provider on a cluster of three masters.
 */
class RedisClusterTests {

	private static RedisCluster cluster;

	private final String namespace = "ns-{" + UUID.randomUUID() + "}";

	@BeforeAll
	static void start() {
		cluster = new RedisCluster();
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C103 R11 every operation works in a cluster, whatever braces the key holds")
	void everyOperationWorks(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisLockProvider provider = connections.provider(this.namespace);
			provider.check();
			List.of("a", "order:{42}:x", "{}", "}{").forEach((key) -> FullCycle.run(provider, key));
		}
	}

	@ParameterizedTest
	@EnumSource
	void manyLeasesOnAllNodesAreRenewedAndListed(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisLockProvider provider = connections.provider(this.namespace);
			List<Grant> grants = IntStream.range(0, 200).mapToObj((i) -> Requests.take(provider, "k" + i)).toList();
			assertThat(provider.renew(grants)).hasSize(200).containsOnly(Renewal.RENEWED);
			assertThat(provider.locks(1000)).hasSize(200);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C103 a slot that moves during a hold takes the lock and its record with it")
	void lockMovesWithItsSlot(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant grant = Requests.take(provider, Requests.of("a", RunUnit.of("u")));
			cluster.move(SlotHash.getSlot(new RedisKeys("mutex", this.namespace).lock("a")));
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.RENEWED);
			assertThat(provider.lock("a"))
				.hasValueSatisfying((lock) -> assertThat(lock.nonce()).isEqualTo(grant.nonce()));
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.runs("a", 1)).hasSize(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C103 R11 a fenced write works in a cluster, whatever braces the resource holds")
	void fencedWritesWork(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisFenceGuard guard = connections.guard(this.namespace);
			for (String resource : List.of("a", "order:{42}:x", "{}", "}{")) {
				FencedLease lease = FencedLease.strict(resource, 5).registeredAt(guard);
				FencedResource held = new FencedRedisOperations(guard).on(lease);
				held.set(FencedRedisOperations.key(resource, this.namespace), "x");
				assertThat(
						held.execute("return redis.call('MGET', KEYS[1], KEYS[2])",
								List.of(FencedRedisOperations.key(resource, this.namespace),
										FencedRedisOperations.key(resource, "none"))))
					.isEqualTo(Arrays.asList("x", null));
				guard.revoke(resource, new FencingToken(6), Requests.newNonce());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C103 a fenced write to a key of another slot is refused, and told what its name has to begin with")
	void fencedWriteToAnotherSlotIsRefused(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisFenceGuard guard = connections.guard(this.namespace);
			FencedLease lease = FencedLease.strict("account:{42}", 5).registeredAt(guard);
			FencedResource held = new FencedRedisOperations(guard).on(lease);
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.set("elsewhere", "x"))
				.withMessageContaining("FencedRedisOperations.key")
				.withMessageContaining("{account:%7B42%7D}");
		}
	}

	@ParameterizedTest
	@EnumSource
	void oneSubscriptionHearsOfKeysOnAllNodes(RedisClient client) {
		try (Connections connections = client.connect(cluster.configuration())) {
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider);
			listener.start();
			String channel = new RedisKeys("mutex", this.namespace).channel(listener.waiter());
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> IntStream.range(0, 3)
					.mapToLong((i) -> cluster.node(i).pubsubNumSub(channel).getOrDefault(channel, 0L))
					.sum() == 1);
			List<String> keys = IntStream.range(0, 40).mapToObj((i) -> "k" + i).toList();
			List<Grant> grants = keys.stream().map((key) -> listener.waitFor(Requests.take(provider, key))).toList();
			grants.forEach((grant) -> provider.release(grant.key(), grant.nonce(), true));
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> listener.reports().containsAll(keys));
			provider.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusedSubscriptionLeavesTheConnectionsClean(RedisClient client) throws Exception {
		try (Connections connections = client.connect(cluster.configuration())) {
			cluster.forEach((node) -> node.aclSetUser("default", "resetchannels"));
			RedisLockProvider provider = connections.provider(this.namespace);
			ReleaseListener listener = new ReleaseListener(provider);
			listener.start();
			assertThat(listener.answer()).isFalse();
			for (int i = 0; i < 9; i++) {
				FullCycle.run(provider, "k" + i);
			}
		}
		finally {
			cluster.forEach((node) -> node.aclSetUser("default", "allchannels"));
		}
	}

}
