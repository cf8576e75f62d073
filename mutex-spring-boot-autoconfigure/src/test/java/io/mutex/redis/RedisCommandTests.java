package io.mutex.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the provider sends to the server, and what it leaves there.
 */
class RedisCommandTests {

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
	void eachOperationIsOneScriptByItsDigest(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			warmUp(provider);
			RunUnit unit = RunUnit.of("u");
			AcquireRequest request = Requests.of("a", unit);
			assertScripts(1, () -> Requests.take(provider, request));
			assertScripts(1, () -> assertThat(provider.acquire(Requests.of("a", unit))).isInstanceOf(Held.class));
			Grant grant = new Grant("a", request.nonce(), provider.lock("a").orElseThrow().token(), Requests.TTL);
			assertScripts(1, () -> provider.renew(List.of(grant)));
			assertScripts(1, () -> provider.complete(grant, "u"));
			assertScripts(1, () -> assertThat(provider.acquire(Requests.of("a", unit))).isInstanceOf(Done.class));
			Grant second = Requests.take(provider, Requests.of("a", RunUnit.of("v")));
			assertScripts(1, () -> provider.fail(second, "v", "broken", Duration.ZERO));
			Grant third = Requests.take(provider, "a");
			assertScripts(1, () -> provider.release("a", third.nonce(), true));
			assertScripts(1, () -> provider.forceRelease("a"));
			assertScripts(1, () -> provider.runs("a", 10));
		}
	}

	@ParameterizedTest
	@EnumSource
	void fiveHundredLeasesAreRenewedByOneScriptForEachBucket(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			warmUp(provider);
			List<Grant> grants = IntStream.range(0, 500).mapToObj((i) -> Requests.take(provider, "k" + i)).toList();
			provider.release("k7", grants.get(7).nonce(), false);
			admin.resetCounts();
			List<Renewal> answers = provider.renew(grants);
			assertThat(admin.count("evalsha")).isLessThanOrEqualTo(RedisKeys.BUCKETS);
			assertThat(answers).hasSize(500);
			assertThat(answers.get(7)).isEqualTo(Renewal.LOST);
			assertThat(answers.stream().filter((answer) -> answer == Renewal.RENEWED)).hasSize(499);
			assertThat(provider.locks(1000)).hasSize(499);
			assertThat(provider.locks(10)).hasSize(10);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("R12 C101 scripts that the server has forgotten are sent again")
	void forgottenScriptsAreSentAgain(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			admin.jedis().scriptFlush();
			List<Grant> grants = IntStream.range(0, 50).mapToObj((i) -> Requests.take(provider, "k" + i)).toList();
			admin.jedis().scriptFlush();
			assertThat(provider.renew(grants)).containsOnly(Renewal.RENEWED);
			admin.jedis().scriptFlush();
			assertThat(provider.locks(100)).hasSize(50);
			admin.jedis().scriptFlush();
			assertThat(provider.release("k0", grants.get(0).nonce(), true)).isEqualTo(Settlement.SETTLED);
		}
	}

	@Test
	@DisplayName("C109 no key is without an end, and a released key is not listed")
	void everyKeyEndsByItself() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant done = Requests.take(provider, Requests.of("done", RunUnit.of("forever")));
			provider.complete(done, "forever");
			Grant failed = Requests.take(provider, Requests.of("failed", RunUnit.rolling(Duration.ofDays(1))));
			provider.fail(failed, failed.key(), "broken", Duration.ZERO);
			Requests.take(provider, "held");
			provider.release("never", Requests.newNonce(), false);
			Grant forced = Requests.take(provider, "forced");
			provider.forceRelease(forced.key());
			assertThat(admin.jedis().keys("mutex:{" + this.namespace + ":*")).hasSizeGreaterThanOrEqualTo(6)
				.allSatisfy((key) -> assertThat(admin.jedis().pttl(key)).as(key)
					.isGreaterThan(Duration.ofDays(6).toMillis()));
			assertThat(provider.locks(10)).extracting((lock) -> lock.key()).containsExactly("failed", "held");
		}
	}

	@Test
	void bookkeepingOutlivesALongLease() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Duration lease = Duration.ofDays(10_000);
			Grant grant = Requests.take(provider, Requests.of("a", null, lease, 0));
			provider.renew(List.of(grant));
			RedisKeys keys = new RedisKeys("mutex", this.namespace);
			assertThat(admin.jedis().pttl(keys.lock("a"))).isGreaterThan(lease.toMillis());
			assertThat(admin.jedis().pttl(keys.held(RedisKeys.bucket("a")))).isGreaterThan(lease.toMillis());
		}
	}

	@Test
	void oldRecordsAreForgottenButForTheTwoNewest() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			for (int i = 0; i < 5; i++) {
				run(provider, "old-" + i, false);
			}
			age("a", Duration.ofDays(91));
			run(provider, "new-0", false);
			assertThat(provider.runs("a", 10)).extracting((run) -> run.unit()).containsExactly("new-0", "old-4");
			run(provider, "new-1", false);
			assertThat(provider.runs("a", 10)).extracting((run) -> run.unit()).containsExactly("new-1", "new-0");
		}
	}

	@Test
	void recordsOfUnitsWithoutAPlaceInTimeStay() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			run(provider, "forever", true);
			age("a", Duration.ofDays(3000));
			for (int i = 0; i < 4; i++) {
				run(provider, "new-" + i, false);
			}
			assertThat(provider.acquire(Requests.of("a", RunUnit.of("forever")))).isInstanceOf(Done.class);
		}
	}

	@Test
	void deadHoldersAreRemovedFromTheListingByAnotherGrant() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			byte[] held = new RedisKeys("mutex", this.namespace).held(RedisKeys.bucket("a"));
			long longAgo = Instant.now().minus(2, ChronoUnit.DAYS).toEpochMilli() * 1000;
			IntStream.range(0, 150).forEach((i) -> admin.jedis().zadd(held, longAgo, ("dead" + i).getBytes()));
			Requests.take(provider, "a");
			assertThat(admin.jedis().zcount(held, "(0".getBytes(), "+inf".getBytes())).isEqualTo(51);
			assertThat(provider.locks(10)).hasSize(1);
		}
	}

	@Test
	@DisplayName("R10 numbers beyond the precision of decimal shorthand are kept exactly")
	void largeNumbersAreExact() {
		try (Connections connections = RedisClient.LETTUCE.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			long floor = (1L << 53) - 7;
			for (long token = floor + 1; token < (1L << 53); token++) {
				AcquireRequest request = Requests.of("a", null, Requests.TTL, floor);
				assertThat(provider.acquire(request)).isInstanceOfSatisfying(Granted.class,
						(granted) -> assertThat(granted.token()).isGreaterThan(floor));
				assertThat(provider.lock("a").orElseThrow().token()).isEqualTo(token);
				provider.release("a", request.nonce(), false);
			}
		}
	}

	private void run(RedisLockProvider provider, String unit, boolean forever) {
		Instant now = Instant.now();
		Grant grant = Requests.take(provider, Requests.of("a", forever ? RunUnit.of(unit)
				: RunUnit.beginning(unit, now, Duration.ofMinutes(1)).keptFor(Duration.ofDays(90))));
		assertThat(provider.complete(grant, unit)).isEqualTo(Settlement.SETTLED);
	}

	private void age(String key, Duration age) {
		RedisKeys keys = new RedisKeys("mutex", this.namespace);
		long micros = age.toMillis() * 1000;
		admin.jedis().zrangeWithScores(keys.order(key), 0, -1).forEach((entry) -> {
			String[] lines = new String(admin.jedis().hget(keys.runs(key), entry.getBinaryElement())).split("\n", 10);
			lines[4] = Long.toString(Long.parseLong(lines[4]) - micros);
			lines[5] = Long.toString(Long.parseLong(lines[5]) - micros);
			lines[7] = Long.toString(Long.parseLong(lines[7]) - micros);
			admin.jedis().hset(keys.runs(key), entry.getBinaryElement(), String.join("\n", lines).getBytes());
			admin.jedis().zadd(keys.order(key), entry.getScore() - micros, entry.getBinaryElement());
		});
	}

	private static void warmUp(RedisLockProvider provider) {
		Grant grant = Requests.take(provider, Requests.of("warm", RunUnit.of("u")));
		provider.renew(List.of(grant));
		provider.complete(grant, "u");
		provider.release("warm", grant.nonce(), true);
		provider.forceRelease("warm");
		provider.runs("warm", 1);
		provider.locks(1);
		provider.lock("warm");
	}

	private static void assertScripts(int expected, Runnable operation) {
		admin.resetCounts();
		operation.run();
		assertThat(admin.count("evalsha")).isEqualTo(expected);
		assertThat(admin.count("eval")).isZero();
	}

}
