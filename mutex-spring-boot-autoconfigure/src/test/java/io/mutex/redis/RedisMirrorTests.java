package io.mutex.redis;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.NotYet;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts and the decisions of {@code io.mutex.protocol}, which they repeat in Lua,
 * give the same answers to the same random operations.
 */
class RedisMirrorTests {

	private static final int STEPS = 3000;

	private static final List<String> KEYS = List.of("a", "b");

	private static final List<Duration> PASSES = List.of(Duration.ofSeconds(37), Duration.ofSeconds(95),
			Duration.ofMinutes(16));

	private static final Duration TOMBSTONES = Duration.ofMinutes(10);

	private static final List<Integer> PERMITS = List.of(1, 1, 2, AcquireRequest.SHARED);

	private static final List<String> WAITERS = List.of("1".repeat(32), "2".repeat(32));

	private static final Owner OWNER = new Owner("pod-1", "host-1", 1, "main");

	private final Ahead clock = new Ahead();

	private final List<String> nonces = new ArrayList<>();

	/** Those with which a permit was asked for. */
	private final Set<String> shared = new HashSet<>();

	private final Map<String, Long> memoryTokens = new HashMap<>();

	private final Map<String, Long> redisTokens = new HashMap<>();

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void scriptsDecideAsTheProtocolDoes(long seed) {
		Random random = new Random(seed);
		String namespace = "mirror-" + UUID.randomUUID();
		List<String> history = new ArrayList<>();
		try (Connections connections = RedisClient.JEDIS.connect(TestServers.redis());
				Admin admin = new Admin(TestServers.redis())) {
			LockProvider redis = connections.provider(namespace);
			LockProvider memory = new MemoryLockProvider(this.clock);
			for (int i = 0; i < STEPS; i++) {
				if (random.nextInt(8) == 0) {
					Duration time = PASSES.get(random.nextInt(PASSES.size()));
					history.add("pass " + time);
					this.clock.advance(time);
					if (time.compareTo(TOMBSTONES) > 0) {
						// Their stores forget them at different times.
						this.nonces.removeAll(this.shared);
					}
					age(admin, new RedisKeys("mutex", namespace), time);
				}
				long step = random.nextLong();
				String expected = step(memory, this.memoryTokens, new Random(step));
				String actual = step(redis, this.redisTokens, new Random(step));
				history.add(expected);
				assertThat(actual)
					.as(() -> "after " + history.subList(Math.max(0, history.size() - 25), history.size()))
					.isEqualTo(expected);
			}
		}
		assertThat(history).anyMatch((line) -> line.contains("NotYet"))
			.anyMatch((line) -> line.contains("Stale"))
			.anyMatch((line) -> line.contains("TooEarly"))
			.anyMatch((line) -> line.contains("Done"))
			.anyMatch((line) -> line.contains("Held null"))
			.anyMatch((line) -> line.contains("acquire - 0 2") && line.contains("Granted"))
			.anyMatch((line) -> line.contains("Granted") && line.contains("IN_DOUBT"));
	}

	private String step(LockProvider provider, Map<String, Long> tokens, Random random) {
		String key = KEYS.get(random.nextInt(KEYS.size()));
		String nonce = nonce(random);
		long token = tokens.getOrDefault(key + nonce, 1L);
		boolean together = this.shared.contains(nonce);
		Grant grant = new Grant(key, nonce, token, Requests.TTL, together ? AcquireRequest.SHARED : 1);
		String unit = List.of("u", "v", "~").get(random.nextInt(3));
		int operation = random.nextInt(14);
		return key + " " + nonce.substring(0, 4) + " " + switch (operation) {
			case 0, 1 -> "release " + release(provider, key, nonce, operation == 0, together);
			case 2, 3, 4 -> "complete " + unit + " " + provider.complete(grant, unit);
			case 5, 6 -> "fail " + unit + " "
					+ provider.fail(grant, unit, "broken\n" + operation, Duration.ofSeconds((operation == 5) ? 0 : 50));
			case 7 -> "renew " + provider.renew(List.of(grant));
			case 8 -> (random.nextInt(4) == 0) ? "force " + provider.forceRelease(key).result()
					: "locks " + provider.locks(10)
						.stream()
						.map((lock) -> lock.key() + lock.nonce() + lock.unit() + lock.name())
						.toList();
			case 9 -> "runs " + provider.runs(key, 2).stream().map(RedisMirrorTests::text).toList();
			default -> acquire(provider, tokens, random, key, nonce);
		};
	}

	// Of a permit that is released again, one store knows no more whose it was.
	private static String release(LockProvider provider, String key, String nonce, boolean began, boolean together) {
		Settlement settlement = provider.release(key, nonce, began);
		return together ? "of a permit" : settlement.toString();
	}

	private String acquire(LockProvider provider, Map<String, Long> tokens, Random random, String key, String nonce) {
		int permits = PERMITS.get(random.nextInt(PERMITS.size()));
		RunUnit unit = (permits == 1) ? unit(random.nextInt(6)) : null;
		int waiter = random.nextInt(5);
		AcquireRequest request = new AcquireRequest(key, "name", nonce, OWNER, Requests.TTL, 0, unit,
				(unit != null && random.nextInt(3) == 0) ? 1 + random.nextInt(3) : 0,
				(permits == 1) ? 1 + random.nextInt(3) : 1, permits,
				(waiter < WAITERS.size()) ? new Reservation(WAITERS.get(waiter), Requests.TTL) : null);
		if (request.isShared()) {
			this.shared.add(nonce);
		}
		Acquisition answer = provider.acquire(request);
		String asked = "acquire " + ((unit != null) ? unit.id() : "-") + " " + request.attempt() + " " + permits + " "
				+ ((request.reservation() != null) ? "as " + waiter : "") + " " + answer.getClass().getSimpleName()
				+ " ";
		if (answer instanceof Granted granted) {
			tokens.put(key + nonce, granted.token());
			return asked + granted.attempt() + " " + (granted.token() - granted.firstToken()) + text(granted.doubt());
		}
		if (answer instanceof Held held) {
			return asked + held.holder() + held.unit();
		}
		if (answer instanceof NotYet notYet) {
			return asked + text(notYet.last()) + notYet.remaining().isZero();
		}
		return asked + ((answer instanceof Done done) ? text(done.record()) : "");
	}

	private static @Nullable RunUnit unit(int choice) {
		return switch (choice) {
			case 0, 1 -> RunUnit.of("u");
			case 2 -> RunUnit.beginning("v", Instant.now().minusSeconds(60), Duration.ZERO);
			case 3 -> RunUnit.rolling(Duration.ofMinutes(10));
			case 4 -> RunUnit.beginning("w", Instant.now().plus(Duration.ofDays(30_000)), Duration.ofMinutes(1));
			default -> null;
		};
	}

	/**
	 * One of the latest few nonces, so that late and repeated requests are frequent; now
	 * and then a new one. Both stores have to be asked with the same.
	 */
	private String nonce(Random random) {
		int choice = random.nextInt(5);
		String fresh = String.format("%016x%016x", random.nextLong(), random.nextLong());
		if (choice == 0 || this.nonces.isEmpty()) {
			this.nonces.remove(fresh);
			this.nonces.add(fresh);
			return fresh;
		}
		return this.nonces.get(Math.max(0, this.nonces.size() - choice));
	}

	private static String text(@Nullable RunRecord run) {
		return (run != null) ? " " + run.unit() + " " + run.status() + " " + run.attempt() + " " + run.owner() + " "
				+ run.error() + " " + (run.notBefore() != null) : " -";
	}

	/**
	 * Lets time pass for what is stored: moves all its times back.
	 */
	private static void age(Admin admin, RedisKeys keys, Duration time) {
		long micros = time.toMillis() * 1000;
		for (String key : KEYS) {
			for (String field : List.of("x", "g", "zb", "ru")) {
				byte[] value = admin.jedis().hget(keys.lock(key), field.getBytes());
				if (value != null && !new String(value).equals("0")) {
					admin.jedis().hincrBy(keys.lock(key), field.getBytes(), -micros);
				}
			}
			admin.jedis().zrangeWithScores(keys.shared(key), 0, -1).forEach((holder) -> {
				double moved = (holder.getScore() < 0) ? micros : -micros;
				admin.jedis().zincrby(keys.shared(key), moved, holder.getBinaryElement());
			});
			if (admin.jedis().zscore(keys.held(RedisKeys.bucket(key)), key.getBytes()) != null) {
				admin.jedis().zincrby(keys.held(RedisKeys.bucket(key)), -micros, key.getBytes());
			}
			admin.jedis().hgetAll(keys.runs(key)).forEach((unit, packed) -> {
				if (unit.length == 0) {
					return;
				}
				String[] lines = new String(packed).split("\n", 10);
				for (int i : new int[] { 4, 5, 6 }) {
					lines[i] = lines[i].equals("0") ? "0" : Long.toString(Long.parseLong(lines[i]) - micros);
				}
				admin.jedis().hset(keys.runs(key), unit, String.join("\n", lines).getBytes());
				admin.jedis().zincrby(keys.order(key), -micros, unit);
			});
		}
	}

	/**
	 * The system's clock, ahead by what has been said to pass.
	 */
	private static final class Ahead extends Clock {

		private Duration by = Duration.ZERO;

		void advance(Duration time) {
			this.by = this.by.plus(time);
		}

		@Override
		public Instant instant() {
			return Instant.now().plus(this.by);
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return this;
		}

	}

}
