package io.mutex.redis;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.ReadFrom;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Redis provider beside a replica.
 */
class RedisReplicaTests {

	@Test
	@DisplayName("C105 with a client that prefers replicas, every operation goes to the master")
	void everythingGoesToTheMaster() {
		try (TestServer master = TestServers.newRedis("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");
				TestServer replica = TestServers.newRedis("--replicaof", master.host(),
						Integer.toString(master.port()));
				Admin replicaAdmin = new Admin(replica)) {
			Awaitility.await().until(() -> replicaAdmin.jedis().info("replication").contains("link_status:up"));
			try (Connections connections = preferReplica(master, replica)) {
				replicaAdmin.resetCounts();
				try (RedisConnection connection = connections.factory().getConnection()) {
					connection.stringCommands().get("control".getBytes(StandardCharsets.UTF_8));
				}
				assertThat(replicaAdmin.count("get")).as("plain reads go to the replica").isEqualTo(1);
				RedisLockProvider provider = connections.provider("app");
				provider.check();
				FullCycle.run(provider, "a");
				assertThat(replicaAdmin.count("eval") + replicaAdmin.count("evalsha")).isZero();
				replica.pause();
				FullCycle.run(provider, "b");
				FencedLease lease = FencedLease.strict("a", 5).registeredAt(connections.guard("app"));
				FencedResource held = new FencedRedisOperations(connections.guard("app")).on(lease);
				held.set("value", "x");
				assertThat(held.get("value")).isEqualTo("x");
				replica.resume();
			}
		}
	}

	private static Connections preferReplica(TestServer master, TestServer replica) {
		RedisStaticMasterReplicaConfiguration configuration = new RedisStaticMasterReplicaConfiguration(master.host(),
				master.port());
		configuration.addNode(replica.host(), replica.port());
		return RedisClient.start(new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder()
					.readFrom(ReadFrom.REPLICA_PREFERRED)
					.commandTimeout(RedisClient.TIMEOUT)
					.build()));
	}

}
