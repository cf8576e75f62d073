package io.mutex.redis;

import java.time.Duration;
import java.util.UUID;

import io.mutex.FencingToken;
import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Protocol;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisCheckTests {

	private static TestServer server;

	private static Admin admin;

	private final String user = "user-" + UUID.randomUUID();

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
	void fitServerPassesWithoutAWordAndUnchanged(RedisClient client, CapturedOutput output) {
		try (Connections connections = client.connect(server)) {
			long keys = admin.jedis().dbSize();
			connections.provider("app").check();
			connections.provider("app").check();
			assertThat(admin.jedis().dbSize()).isEqualTo(keys);
			assertThat(output).doesNotContain("maxmemory-policy", "RedisFindings");
			assertThat(connections.provider("app").findings()).isEmpty();
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C101 a user that may not run scripts is told which commands are missing")
	void missingScriptCommandsAreNamed(RedisClient client) {
		try (Connections connections = connect(client, "+@all", "-eval", "-evalsha")) {
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(connections.provider("app")::check)
				.withMessageContaining("EVAL, EVALSHA")
				.withMessageContaining("+eval +evalsha");
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C101 a user that may not run what the scripts use is told which commands are missing")
	void missingCommandsOfTheScriptsAreNamed(RedisClient client) {
		try (Connections connections = connect(client, "+@all", "-zadd", "-pexpire", "-time")) {
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(connections.provider("app")::check)
				.withMessageContaining("PEXPIRE, TIME, ZADD.");
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> connections.provider("app").acquire(Requests.of("a")))
				.withMessageContaining("refuses a command");
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C101 the commands that the check tries are all that the provider needs")
	void namedCommandsAreEnough(RedisClient client) {
		String[] rules = { "-@all", "+eval", "+evalsha", "+hset", "+pexpire", "+hmget", "+hget", "+pttl", "+hdel",
				"+time", "+zadd", "+zrem", "+zmscore", "+pexpireat", "+zrange", "+zrangebyscore", "+zrevrange",
				"+hello", "+client", "+ping", "+select" };
		try (Connections connections = connect(client, rules)) {
			connections.provider("app").check();
			FullCycle.run(connections.provider("app"), this.user);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C101 the guard needs few commands, on the keys with the prefix")
	void guardNeedsFewCommands(RedisClient client) {
		String[] rules = { "-@all", "+eval", "+evalsha", "+hmget", "+hset", "+pexpire", "+sadd", "+smembers", "+set",
				"+hello", "+client", "+ping", "+select", "~{account}:*" };
		try (Connections connections = connect(client, rules)) {
			RedisFenceGuard guard = connections.guard(this.user);
			FencedLease lease = FencedLease.of("key", 5, "account", true).registeredAt(guard);
			new FencedRedisOperations(guard).on(lease).set(FencedRedisOperations.key("account", "value"), "x");
			guard.revoke("key", new FencingToken(6), Requests.newNonce());
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> new FencedRedisOperations(guard).on(lease).set("foreign", "x"))
				.withMessageContaining("account");
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusedKeysAreNamed(RedisClient client) {
		admin.jedis().sendCommand(Protocol.Command.ACL, "SETUSER", this.user, "on", ">secret", "+@all", "~other:*");
		try (Connections connections = open(client)) {
			assertThatExceptionOfType(StoreSetupException.class).isThrownBy(connections.provider("app")::check)
				.withMessageContaining("mutex.redis.key-prefix");
		}
	}

	@Test
	@DisplayName("C107 R5 an evicting server is warned of, once")
	void evictionIsWarnedOfOnce(CapturedOutput output) {
		admin.jedis().configSet("maxmemory-policy", "allkeys-lru");
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider("app");
			provider.check();
			provider.check();
			assertThat(output.toString().split("maxmemory-policy is allkeys-lru", -1)).hasSize(2);
			assertThat(provider.findings()).singleElement().asString().contains("maxmemory-policy is allkeys-lru");
		}
		finally {
			admin.jedis().configSet("maxmemory-policy", "noeviction");
		}
	}

	@Test
	void whatARestartOrAFailoverLosesIsSaidOnce(CapturedOutput output) {
		try (TestServer own = TestServers.newRedis("--appendonly", "no", "--repl-diskless-sync", "yes",
				"--repl-diskless-sync-delay", "0");
				TestServer replica = TestServers.newRedis("--replicaof", own.host(), Integer.toString(own.port()));
				Admin ownAdmin = new Admin(own);
				Connections connections = RedisClient.LETTUCE.connect(own)) {
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> ownAdmin.jedis().info("replication").contains("connected_slaves:1"));
			RedisLockProvider provider = connections.provider("app");
			provider.check();
			provider.check();
			assertThat(provider.findings()).hasSize(2)
				.anyMatch((finding) -> finding.contains("appendonly no"))
				.anyMatch((finding) -> finding.contains("min-replicas-to-write"));
			assertThat(output.toString().split("appendonly no", -1)).hasSize(2);
			ownAdmin.jedis().configSet("min-replicas-to-write", "1");
			provider.check();
			assertThat(provider.findings()).noneMatch((finding) -> finding.contains("min-replicas-to-write"));
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C111 a stopped server is an error that says so, never an answer")
	void stoppedServerIsAnError(RedisClient client) {
		try (TestServer own = TestServers.newRedis(); Connections connections = client.connect(own)) {
			RedisLockProvider provider = connections.provider("app");
			own.kill();
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(Requests.of("a")))
				.withMessageContaining("redis did not answer for key 'a'")
				.withMessageContaining("spring.data.redis")
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
			assertThatExceptionOfType(MutexException.class).isThrownBy(provider::check)
				.isNotInstanceOf(StoreSetupException.class);
		}
	}

	private Connections connect(RedisClient client, String... rules) {
		admin.jedis().sendCommand(Protocol.Command.ACL, "SETUSER", this.user, "on", ">secret", "~mutex:*");
		for (String rule : rules) {
			admin.jedis().sendCommand(Protocol.Command.ACL, "SETUSER", this.user, rule);
		}
		return open(client);
	}

	private Connections open(RedisClient client) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername(this.user);
		configuration.setPassword("secret");
		return client.connect(configuration);
	}

}
