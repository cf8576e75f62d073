package io.mutex.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.mutex.Fence;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link FencedRedisOperations}.
 */
@ParameterizedClass
@EnumSource(RedisClient.class)
class FencedRedisOperationsTests {

	private static TestServer server;

	private static Admin admin;

	private final String resource = "account:" + UUID.randomUUID();

	private final String namespace = "ns-" + UUID.randomUUID();

	private final Connections connections;

	private final RedisFenceGuard guard;

	private final FencedRedisOperations operations;

	FencedRedisOperationsTests(RedisClient client) {
		this.connections = client.connect(server);
		this.guard = this.connections.guard(this.namespace);
		this.operations = new FencedRedisOperations(this.guard);
	}

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

	@AfterEach
	void disconnect() {
		this.connections.close();
	}

	@Test
	void everyOperationDoesWhatItsCommandDoes() {
		FencedResource held = held(5);
		held.set(key("value"), "é");
		assertThat(held.get(key("value"))).isEqualTo("é");
		assertThat(admin.jedis().get(key("value"))).isEqualTo("é");
		assertThat(admin.jedis().ttl(key("value"))).isEqualTo(-1);
		held.set(key("value"), "short", Duration.ofMinutes(1));
		assertThat(admin.jedis().pttl(key("value"))).isBetween(1L, 60_000L);
		held.put(key("hash"), "f", "v");
		assertThat(held.get(key("hash"), "f")).isEqualTo("v");
		assertThat(held.get(key("hash"), "none")).isNull();
		assertThat(held.increment(key("number"), 5)).isEqualTo(5);
		assertThat(held.increment(key("number"), -7)).isEqualTo(-2);
		assertThat(held.rightPush(key("list"), "b")).isEqualTo(1);
		assertThat(held.leftPush(key("list"), "a")).isEqualTo(2);
		assertThat(admin.jedis().lrange(key("list"), 0, -1)).containsExactly("a", "b");
		assertThat(held.delete(key("list"))).isTrue();
		assertThat(held.delete(key("list"))).isFalse();
		assertThat(held.get(key("none"))).isNull();
	}

	@Test
	void eachOperationIsOneScriptByItsDigest() {
		FencedResource held = held(5);
		held.set(key("value"), "warm");
		admin.resetCounts();
		held.set(key("value"), "1");
		held.get(key("value"));
		held.increment(key("value"), 1);
		assertThat(admin.count("evalsha")).isEqualTo(3);
		assertThat(admin.count("eval")).isZero();
	}

	@Test
	@DisplayName("C69 a holder that was overtaken while it stood still is refused, and its lease is told")
	void overtakenHolderIsRefused() {
		FencedLease paused = FencedLease.strict(this.resource, 5).registeredAt(this.guard);
		FencedResource stale = this.operations.on(paused);
		stale.set(key("value"), "old");
		FencedResource next = held(6);
		next.set(key("value"), "new");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> stale.set(key("value"), "too late"))
			.satisfies((ex) -> {
				assertThat(ex.getResource()).isEqualTo(this.resource);
				assertThat(ex.getToken().value()).isEqualTo(5);
				assertThat(ex.getAccepted().value()).isEqualTo(6);
				assertThat(paused.refusals()).containsExactly(ex);
			});
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.put(key("hash"), "f", "v"));
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.increment(key("n"), 1));
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.leftPush(key("l"), "v"));
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.rightPush(key("l"), "v"));
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.delete(key("value")));
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> stale.get(key("value")));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> stale.execute("return redis.call('SET', KEYS[1], 'x')", List.of(key("value"))));
		assertThat(paused.refusals()).hasSize(8);
		assertThat(admin.jedis().get(key("value"))).isEqualTo("new");
		assertThat(admin.jedis().exists(key("hash"), key("n"), key("l"))).isZero();
	}

	@Test
	@DisplayName("C70 nothing of an earlier holder is written from the moment on that a later one is registered")
	void registrationIsABarrier() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(2);
		try {
			for (int round = 1; round <= 20; round++) {
				FencedResource earlier = held(2 * round);
				CountDownLatch writing = new CountDownLatch(2);
				List<Future<Integer>> writers = List.of(threads.submit(() -> writeUntilRefused(earlier, writing)),
						threads.submit(() -> writeUntilRefused(earlier, writing)));
				assertThat(writing.await(30, TimeUnit.SECONDS)).isTrue();
				FencedResource later = held(2 * round + 1);
				String read = later.get(key("value"));
				for (Future<Integer> writer : writers) {
					assertThat(writer.get(30, TimeUnit.SECONDS)).isPositive();
				}
				assertThat(later.get(key("value"))).isEqualTo(read);
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private int writeUntilRefused(FencedResource earlier, CountDownLatch writing) {
		int written = 0;
		while (true) {
			try {
				earlier.increment(key("value"), 1);
				if (written == 0) {
					writing.countDown();
				}
				written++;
			}
			catch (StaleFencingTokenException ex) {
				return written;
			}
		}
	}

	@Test
	@DisplayName("C73 the lease of one key does not write to the resource of another, and the refusal names both")
	void leaseOfAnotherKeyIsRefused() {
		held(5);
		FencedLease other = FencedLease.strict("other", 9).registeredAt(this.guard);
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.operations.on(this.resource, other).set(key("value"), "x"))
			.withMessageContaining("belongs to key '" + this.resource + "'")
			.withMessageContaining("key 'other'");
		try (Leases.Scope scope = Leases.bind(other)) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.operations.on(this.resource).set(key("value"), "x"))
				.withMessageContaining("resource '" + this.resource + "'")
				.withMessageContaining("key 'other', fenced at [other]");
		}
		assertThat(admin.jedis().exists(key("value"))).isFalse();
	}

	@Test
	void callWithoutALeaseIsRefused() {
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.operations.on(this.resource).set(key("value"), "x"))
			.withMessageContaining("holds no lease");
	}

	@Test
	void leaseThatNobodyChecksIsRefused() {
		FencedLease unfenced = FencedLease.unfenced(this.resource, 5);
		try (Leases.Scope scope = Leases.bind(unfenced)) {
			assertThatExceptionOfType(MutexException.class)
				.isThrownBy(() -> this.operations.on(this.resource).set(key("value"), "x"))
				.withMessageContaining("fenced at no resource");
		}
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> this.operations.on(unfenced).set(key("value"), "x"))
			.withMessageContaining("does not know that it was registered");
		this.guard.register(Fence.of(this.resource, unfenced));
		this.operations.on(unfenced).set(key("value"), "x");
	}

	@Test
	void innermostLeaseThatNamesTheResourceWrites() {
		FencedLease outer = FencedLease.of("outer", 5, this.resource, true).registeredAt(this.guard);
		FencedLease inner = FencedLease.strict("inner", 9).registeredAt(this.guard);
		try (Leases.Scope first = Leases.bind(outer); Leases.Scope second = Leases.bind(inner)) {
			this.operations.on(this.resource).set(key("value"), "x");
			this.operations.on(outer).set(key("value"), "y");
		}
		assertThat(admin.jedis().get(key("value"))).isEqualTo("y");
	}

	@Test
	void lostLeaseIsRefusedWithoutAQuestion() {
		FencedLease lost = FencedLease.strict(this.resource, 5).registeredAt(this.guard);
		lost.valid().set(false);
		admin.resetCounts();
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> this.operations.on(lost).set(key("value"), "x"));
		assertThat(admin.count("evalsha") + admin.count("eval")).isZero();
	}

	@Test
	@DisplayName("R1 a strict write is refused when the guard has forgotten the registration")
	void vanishedGuardRefuses() {
		FencedResource held = held(5);
		admin.jedis().del(new FenceKeys("mutex", this.namespace).guard(this.resource));
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.set(key("value"), "x"))
			.isNotInstanceOf(StaleFencingTokenException.class)
			.withMessageContaining("lost its data");
		held(4);
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.set(key("value"), "x"))
			.isNotInstanceOf(StaleFencingTokenException.class)
			.withMessageContaining("lost its data");
		assertThat(admin.jedis().exists(key("value"))).isFalse();
	}

	@Test
	void checkOnWriteRegistersWithTheFirstWrite() {
		FencedLease earlier = FencedLease.of(this.resource, 5, this.resource, false);
		FencedLease later = FencedLease.of(this.resource, 6, this.resource, false);
		this.operations.on(earlier).set(key("value"), "1");
		this.operations.on(later).set(key("value"), "2");
		this.operations.on(later).set(key("value"), "3");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.operations.on(earlier).set(key("value"), "4"));
		assertThat(admin.jedis().get(key("value"))).isEqualTo("3");
	}

	@Test
	void guardOfAScriptThatFailsIsKeptNoLongerThanOthers() {
		FencedLease lease = FencedLease.of("key", 5, this.resource, false);
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> this.operations.on(this.resource, lease)
			.execute("return redis.call('INCR', KEYS[1], 'too', 'many')", List.of(key("value"))));
		String guard = new FenceKeys("mutex", this.namespace).guard(this.resource);
		assertThat(admin.jedis().pttl(guard)).isNotEqualTo(-1);
	}

	@Test
	void scriptSeesItsOwnKeysAndArgumentsAndGivesWhatItReturns() {
		FencedResource held = held(5);
		List<String> keys = List.of(key("a"), key("b"));
		assertThat(held.execute("return { #KEYS, KEYS[1], KEYS[2], #ARGV, ARGV[1], { 1, 'x' } }", keys, "z"))
			.isEqualTo(Arrays.asList(2L, keys.get(0), keys.get(1), 1L, "z", Arrays.asList(1L, "x")));
		assertThat(held.execute("redis.call('SET', KEYS[1], ARGV[1])\n-- done", keys, "v")).isNull();
		assertThat(held.execute("return redis.call('GET', KEYS[1])", keys)).isEqualTo("v");
		assertThat(held.execute("return redis.call('GET', KEYS[2])", keys)).isNull();
		assertThat(held.execute("return false", keys)).isNull();
		assertThat(held.execute("return redis.status_reply('fine')", keys)).isEqualTo("fine");
		assertThat(held.execute("return 7", List.of())).isEqualTo(7L);
		assertThat(held.execute("local function half(n) return n / 2 end return half(ARGV[1])", List.of(), "9"))
			.isEqualTo(4L);
	}

	@Test
	void failureOfAScriptIsTold() {
		FencedResource held = held(5);
		List<String> keys = List.of(key("list"));
		held.rightPush(key("list"), "x");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.increment(key("list"), 1))
			.withMessageContaining("resource '" + this.resource + "'")
			.withMessageContaining("WRONGTYPE");
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> held.execute("local n = 1\nreturn redis.call('INCR', KEYS[1])", keys))
			.withMessageContaining("WRONGTYPE")
			.withMessageContaining("user_script:2");
		assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> held.execute("return redis.error_reply('MINE not today')", keys))
			.withMessageContaining("MINE not today");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.execute("retrun 1", keys))
			.withMessageContaining("Error compiling script")
			.withMessageContaining("user_script:1");
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.execute("#!lua\nreturn 1", keys));
	}

	@Test
	@DisplayName("R12 C101 scripts that the server has forgotten are sent again, and done once")
	void forgottenScriptsAreSentAgain() {
		FencedResource held = held(5);
		admin.jedis().scriptFlush();
		assertThat(held.increment(key("n"), 1)).isEqualTo(1);
		admin.jedis().scriptFlush();
		assertThat(held.increment(key("n"), 1)).isEqualTo(2);
		admin.jedis().scriptFlush();
		assertThat(held.execute("return redis.call('INCR', KEYS[1])", List.of(key("n")))).isEqualTo(3L);
	}

	@Test
	@DisplayName("R6 C107 a full memory refuses a write, and neither the registered grant nor a deletion")
	void fullMemoryRefusesWrites() {
		FencedLease lease = FencedLease.strict(this.resource, 5).registeredAt(this.guard);
		FencedResource held = this.operations.on(lease);
		held.set(key("value"), "x");
		admin.jedis().configSet("maxmemory", "1");
		try {
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> held.set(key("other"), "x"))
				.withMessageContaining("OOM");
			assertThat(held.delete(key("value"))).isTrue();
		}
		finally {
			admin.jedis().configSet("maxmemory", "0");
		}
		assertThat(admin.jedis().exists(key("other"))).isFalse();
	}

	private FencedResource held(long token) {
		return this.operations.on(FencedLease.strict(this.resource, token).registeredAt(this.guard));
	}

	private String key(String suffix) {
		return FencedRedisOperations.key(this.resource, suffix);
	}

}
