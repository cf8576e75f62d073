package io.mutex.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.HeldBack;
import io.mutex.Acquisition.Stale;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.Reopening;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is kept of those who hold a key together, and when it goes.
 */
class RedisSharingTests {

	private static final String KEY = "a";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static TestServer server;

	private static Admin admin;

	private final String namespace = "ns-" + UUID.randomUUID();

	private final RedisKeys keys = new RedisKeys("mutex", this.namespace);

	private final Connections connections = RedisClient.LETTUCE.connect(server);

	private final RedisLockProvider provider = this.connections.provider(this.namespace);

	@BeforeAll
	static void start() {
		server = TestServers.newRedis("--appendonly", "no");
		admin = new Admin(server);
	}

	@AfterEach
	void disconnect() {
		this.connections.close();
	}

	@AfterAll
	static void stop() {
		admin.close();
		server.close();
	}

	@Test
	void keyIsKeptAsLongAsTheLastOfItsHolders() {
		Duration month = Duration.ofDays(30);
		Grant longest = read(month);
		Grant shortest = read(MINUTE);
		assertThat(this.provider.renew(List.of(shortest))).containsExactly(Renewal.RENEWED);
		assertThat(admin.jedis().pttl(this.keys.lock(KEY))).isGreaterThan(month.toMillis());
		assertThat(admin.jedis().pttl(this.keys.shared(KEY))).isGreaterThan(month.toMillis());
		this.provider.release(KEY, shortest.nonce(), true);
		assertThat(this.provider.lock(KEY)).hasValueSatisfying((lock) -> {
			assertThat(lock.nonce()).isEqualTo(longest.nonce());
			assertThat(lock.expiresAt()).isAfter(lock.acquiredAt().plus(month).minus(MINUTE));
		});
		assertThat(this.provider.acquire(Requests.of(KEY))).isInstanceOf(Held.class);
	}

	@Test
	void whatIsKeptOfThoseWhoReleasedIsBounded() {
		Grant last = IntStream.range(0, 1100).mapToObj((i) -> {
			Grant grant = read(MINUTE);
			this.provider.release(KEY, grant.nonce(), true);
			return grant;
		}).reduce((before, next) -> next).orElseThrow();
		assertThat(admin.jedis().zcard(this.keys.shared(KEY))).isBetween(900L, 1000L);
		assertThat(admin.jedis().hlen(this.keys.lock(KEY))).isLessThan(20);
		AcquireRequest late = new AcquireRequest(KEY, KEY, last.nonce(), Requests.of(KEY).owner(), MINUTE, 0, null, 0,
				1, 2, null);
		assertThat(this.provider.acquire(late)).isInstanceOf(Stale.class);
	}

	@Test
	void whatIsKeptOfTheDeadIsForgotten() {
		IntStream.range(0, 10).forEach((i) -> read(MINUTE));
		move((end) -> end - MINUTE.plusMinutes(11).toNanos() / 1000.0);
		Grant next = read(MINUTE);
		assertThat(admin.jedis().zrange(this.keys.shared(KEY), 0, -1)).hasSize(1);
		assertThat(admin.jedis().hkeys(this.keys.lock(KEY)).stream().map(String::new)).contains(next.nonce())
			.filteredOn((field) -> field.length() == next.nonce().length())
			.hasSize(1);
	}

	@Test
	void keyThatIsSharedNoMoreIsPlainAgain() {
		Grant reader = read(MINUTE);
		this.provider.release(KEY, reader.nonce(), true);
		move((released) -> released + Duration.ofMinutes(11).toNanos() / 1000.0);
		Grant writer = Requests.take(this.provider, KEY);
		assertThat(admin.jedis().exists(this.keys.shared(KEY))).isFalse();
		assertThat(admin.jedis().hexists(this.keys.lock(KEY), "q".getBytes())).isFalse();
		assertThat(this.provider.release(KEY, writer.nonce(), true)).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void lateReleaseOfADeadHolderLeavesTheOthersListed() {
		Grant dead = read(MINUTE);
		move((end) -> end - MINUTE.toNanos() / 1000.0);
		Grant alive = read(MINUTE);
		assertThat(this.provider.release(KEY, dead.nonce(), true)).isEqualTo(Settlement.SETTLED);
		assertThat(this.provider.locks(10)).singleElement()
			.satisfies((lock) -> assertThat(lock.nonce()).isEqualTo(alive.nonce()));
		assertThat(this.provider.renew(List.of(dead, alive))).containsExactly(Renewal.LOST, Renewal.RENEWED);
	}

	@Test
	void reopeningBesideHoldersLeavesThemListed() {
		Grant run = Requests.take(this.provider, Requests.of(KEY, RunUnit.of("u")));
		this.provider.complete(run, "u");
		Grant reader = read(MINUTE);
		assertThat(this.provider.reopen(KEY, "u").result()).isEqualTo(Reopening.Result.REOPENED);
		assertThat(this.provider.locks(10)).singleElement()
			.satisfies((lock) -> assertThat(lock.nonce()).isEqualTo(reader.nonce()));
	}

	@Test
	void afterALossOfDataPermitsAreHeldBackToo() {
		read(MINUTE);
		admin.jedis().flushAll();
		assertThat(this.provider.acquire(Requests.of(KEY, AcquireRequest.SHARED, null))).isInstanceOf(HeldBack.class);
		assertThat(this.provider.acquire(Requests.of(KEY, 2, Requests.newNonce()))).isInstanceOf(HeldBack.class);
	}

	@Test
	void holdersOfAKeyThatVanishedAreLost() {
		Grant reader = read(MINUTE);
		admin.jedis().del(this.keys.lock(KEY));
		assertThat(this.provider.renew(List.of(reader))).containsExactly(Renewal.LOST);
		assertThat(this.provider.locks(10)).isEmpty();
		Grant writer = Requests.take(this.provider, KEY);
		assertThat(writer.token()).isGreaterThan(reader.token());
		assertThat(this.provider.renew(List.of(reader, writer))).containsExactly(Renewal.LOST, Renewal.RENEWED);
	}

	private Grant read(Duration ttl) {
		return Requests.take(this.provider, Requests.of(KEY, AcquireRequest.SHARED, null, ttl));
	}

	/**
	 * Lets time pass for those who hold or held together.
	 */
	private void move(DoubleUnaryOperator time) {
		byte[] shared = this.keys.shared(KEY);
		admin.jedis()
			.zrangeWithScores(shared, 0, -1)
			.forEach((holder) -> admin.jedis()
				.zadd(shared, time.applyAsDouble(holder.getScore()), holder.getBinaryElement()));
	}

}
