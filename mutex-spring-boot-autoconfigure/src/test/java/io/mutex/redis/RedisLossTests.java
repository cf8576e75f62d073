package io.mutex.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.HeldBack;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import io.mutex.testing.ClockShim;
import io.mutex.testing.CuttingProxy;
import io.mutex.testing.Experiments;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that lose data, and what instances do that have seen more.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisLossTests {

	private final String namespace = "ns-" + UUID.randomUUID();

	@Test
	@DisplayName("R1 after a restart without its data a server grants nothing for one longest lease")
	void restartWithoutDataHoldsGrantsBack(CapturedOutput output) {
		try (TestServer server = TestServers.newRedis("--appendonly", "no"); Switch first = new Switch(server)) {
			RedisLockProvider provider = first.provider(this.namespace);
			Grant lost = Requests.take(provider, "a");
			server.kill();
			server.start();
			first.to(server);
			assertHeldBack(provider, "a");
			assertHeldBack(provider, inBucketOf("a"));
			assertThat(output.toString().split("Redis has lost locks", -1)).as("said once").hasSize(2);
			assertThat(provider.findings()).singleElement().asString().contains("had lost locks");
			try (Connections other = RedisClient.LETTUCE.connect(server)) {
				assertHeldBack(other.provider(this.namespace), "a");
			}
			assertThat(provider.renew(List.of(lost))).containsExactly(Renewal.LOST);
			pass(server, Requests.TTL.plusSeconds(1));
			assertThat(Requests.take(provider, "a").token()).isGreaterThan(lost.token());
		}
	}

	@Test
	@DisplayName("R1 a flushed server holds grants back, and what it grants later goes on as ever")
	void flushedServerHoldsGrantsBack() {
		try (TestServer server = TestServers.newRedis();
				Switch first = new Switch(server);
				Admin admin = new Admin(server)) {
			RedisLockProvider provider = first.provider(this.namespace);
			Grant lost = Requests.take(provider, "a");
			admin.jedis().flushAll();
			assertHeldBack(provider, "a");
			pass(server, Requests.TTL.minusSeconds(20));
			assertThat(provider.acquire(Requests.of("a"))).isInstanceOfSatisfying(HeldBack.class,
					(heldBack) -> assertThat(heldBack.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(20)));
			pass(server, Duration.ofSeconds(21));
			AcquireRequest request = Requests.of("a");
			Grant next = Requests.take(provider, request);
			assertThat(next.token()).isGreaterThan(lost.token());
			assertThat(provider.acquire(Requests.of("a"))).isInstanceOf(Held.class);
			assertThat(Requests.take(provider, request)).isEqualTo(next);
			assertThat(provider.renew(List.of(next))).containsExactly(Renewal.RENEWED);
		}
	}

	@Test
	@DisplayName("S11 a unit whose record was lost with the data runs again, and not before a longest lease")
	void unitWhoseRecordWasLostRunsAgain() {
		try (TestServer server = TestServers.newRedis();
				Switch connections = new Switch(server);
				Admin admin = new Admin(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant run = Requests.take(provider, Requests.of("a", RunUnit.of("today")));
			assertThat(provider.complete(run, "today")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.acquire(Requests.of("a", RunUnit.of("today")))).isInstanceOf(Done.class);
			admin.jedis().flushAll();
			assertThat(provider.acquire(Requests.of("a", RunUnit.of("today")))).isInstanceOf(HeldBack.class);
			pass(server, Requests.TTL.plusSeconds(1));
			Grant again = Requests.take(provider, Requests.of("a", RunUnit.of("today")));
			assertThat(again.token()).isGreaterThan(run.token());
			assertThat(provider.complete(run, "today")).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.complete(again, "today")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.runs("a", 10)).hasSize(1);
		}
	}

	@Test
	@DisplayName("R1 an instance that has seen nothing takes an empty server for a new one, until another tells")
	void instancesThatKnowMoreTellTheOthers() {
		try (TestServer server = TestServers.newRedis();
				Switch connections = new Switch(server);
				Admin admin = new Admin(server)) {
			RedisLockProvider old = connections.provider(this.namespace);
			RedisLockProvider idle = connections.provider(this.namespace);
			Requests.take(old, "a");
			Requests.take(idle, inBucketOf("a"));
			admin.jedis().flushAll();
			RedisLockProvider fresh = connections.provider(this.namespace);
			AcquireRequest request = Requests.of(inBucketOf("a"));
			Grant granted = Requests.take(fresh, request);
			for (int i = 0; i < 3; i++) {
				assertHeldBack(old, "a");
				assertHeldBack(fresh, "a");
				assertHeldBack(idle, "a");
			}
			assertThat(fresh.renew(List.of(granted))).containsExactly(Renewal.RENEWED);
			assertThat(Requests.take(fresh, request)).isEqualTo(granted);
			pass(server, Requests.TTL.plusSeconds(1));
			admin.jedis()
				.zincrby(new RedisKeys("mutex", this.namespace).held(RedisKeys.bucket("a")),
						Requests.TTL.plusSeconds(1).toNanos() / 1000.0, "\u0001born".getBytes());
			for (RedisLockProvider provider : List.of(old, fresh, idle)) {
				Grant grant = Requests.take(provider, "a");
				provider.release("a", grant.nonce(), true);
			}
		}
	}

	@Test
	@DisplayName("R7 a server that was rolled back to a snapshot grants nothing for one longest lease")
	void rollBackHoldsGrantsBack() {
		try (TestServer server = TestServers.newRedis("--appendonly", "no"); Switch connections = new Switch(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Requests.take(provider, inBucketOf("a"));
			// From now on its grants are the most frequent ones, which are answered with
			// less.
			provider.release("a", Requests.take(provider, "a").nonce(), true);
			try (Admin admin = new Admin(server)) {
				admin.jedis().save();
			}
			long highest = 0;
			for (int i = 0; i < 10; i++) {
				Grant grant = Requests.take(provider, "a");
				highest = grant.token();
				provider.release("a", grant.nonce(), true);
			}
			server.kill();
			server.start();
			connections.to(server);
			assertThat(provider.lock(inBucketOf("a"))).as("of the snapshot").isPresent();
			assertHeldBack(provider, "a");
			assertHeldBack(connections.provider(this.namespace), "a");
			pass(server, Requests.TTL.plusSeconds(1));
			assertThat(Requests.take(provider, "a").token()).isGreaterThan(highest);
		}
	}

	@Test
	@DisplayName("R2 R3 C106 a promoted replica that was behind grants nothing while an instance knows more")
	void staleReplicaHoldsGrantsBack() {
		try (StaleReplica replica = new StaleReplica(); Switch connections = new Switch(replica.master)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			replica.cutAfter(Requests.take(provider, inBucketOf("a")), new RedisKeys("mutex", this.namespace));
			Grant lost = Requests.take(provider, "a");
			assertThat(replica.promote()).as("nothing rests on WAIT").isZero();
			connections.to(replica.server);
			assertHeldBack(provider, "a");
			assertHeldBack(connections.provider(this.namespace), "a");
			assertThat(provider.renew(List.of(lost))).containsExactly(Renewal.LOST);
			pass(replica.server, Requests.TTL.plusSeconds(1));
			assertThat(Requests.take(provider, "a").token()).isGreaterThan(lost.token());
		}
	}

	@Test
	@DisplayName("R2 C106 of two holders of one token only one is accepted, and the writes of the other are refused")
	void guardAcceptsOneOfTwoHolders() {
		try (StaleReplica replica = new StaleReplica();
				Switch connections = new Switch(replica.master);
				Connections judge = RedisClient.JEDIS.connect(TestServers.redis())) {
			RedisLockProvider provider = connections.provider(this.namespace);
			replica.cutAfter(Requests.take(provider, inBucketOf("a")), new RedisKeys("mutex", this.namespace));
			long floor = 1L << 52;
			Grant first = Requests.take(provider, Requests.of("a", null, Requests.TTL, floor));
			replica.promote();
			connections.to(replica.server);
			RedisLockProvider unknowing = connections.provider(this.namespace);
			Grant second = Requests.take(unknowing, Requests.of("a", null, Requests.TTL, floor));
			assertThat(second.token()).as("granted twice").isEqualTo(first.token());
			unknowing.release("a", second.nonce(), false);
			assertOneIsAccepted(judge, first, second,
					(above) -> Requests.take(unknowing, Requests.of("a", null, Requests.TTL, above)));
		}
	}

	@Test
	@DisplayName("R8 of the holders of two masters only one is accepted")
	void guardAcceptsOneOfTwoMasters() {
		try (TestServer left = TestServers.newRedis();
				TestServer right = TestServers.newRedis();
				Switch first = new Switch(left);
				Switch second = new Switch(right);
				Connections judge = RedisClient.JEDIS.connect(TestServers.redis())) {
			AcquireRequest request = Requests.of("a", null, Requests.TTL, 1L << 52);
			AcquireRequest other = Requests.of("a", null, Requests.TTL, 1L << 52);
			RedisLockProvider provider = second.provider(this.namespace);
			Grant rival = Requests.take(provider, other);
			provider.release("a", other.nonce(), false);
			assertOneIsAccepted(judge, Requests.take(first.provider(this.namespace), request), rival,
					(above) -> Requests.take(provider, Requests.of("a", null, Requests.TTL, above)));
		}
	}

	// What the engine does: a refused grant is asked for again above the accepted one.
	private void assertOneIsAccepted(Connections judge, Grant first, Grant second, LongFunction<Grant> again) {
		RedisFenceGuard guard = judge.guard(this.namespace);
		FencedLease holder = FencedLease.of(first).registeredAt(guard);
		FencedResource writes = new FencedRedisOperations(guard).on(holder);
		String value = FencedRedisOperations.key("a", this.namespace);
		writes.set(value, "first");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> FencedLease.of(second).registeredAt(guard))
			.satisfies((ex) -> assertThat(ex.getAccepted().value()).isEqualTo(first.token()));
		FencedLease next = FencedLease.of(again.apply(first.token())).registeredAt(guard);
		new FencedRedisOperations(guard).on(next).set(value, "second");
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> writes.set(value, "late"));
		assertThat(new FencedRedisOperations(guard).on(next).get(value)).isEqualTo("second");
	}

	@Test
	@DisplayName("R4 after a loss of data and a step of the clock back, a grant is made anew above the guard's token")
	void clockThatStepsBackIsMadeUpForByTheGuard() {
		try (ClockShim clock = ClockShim.compile();
				TestServer server = TestServers.newRedis(clock);
				Switch connections = new Switch(server);
				Connections judge = RedisClient.JEDIS.connect(TestServers.redis())) {
			List<FencingToken> refused = new CopyOnWriteArrayList<>();
			List<FencingToken> accepted = new ArrayList<>();
			LockRequest request = LockRequest.of("a")
				.withLease(Duration.ofSeconds(1))
				.withWaitFor(Duration.ofMinutes(2));
			try (LockEngine engine = engine(connections.provider(this.namespace), refused)) {
				engine.guardBy(List.of(judge.guard(this.namespace)));
				for (int i = 0; i < Experiments.rounds(2, 20); i++) {
					accepted.add(engine.execute(request, Lease::token));
					clock.move(Duration.ofHours(-1 - i));
					try (Admin admin = new Admin(server)) {
						admin.jedis().flushAll();
						assertThat(Long.parseLong(admin.jedis().time().get(0)))
							.isLessThan(Instant.now().getEpochSecond() - 3000);
					}
					accepted.add(engine.execute(request, Lease::token));
					assertThat(refused).as("the guard had to help").hasSize(i + 1);
				}
			}
			assertThat(accepted).isSorted().doesNotHaveDuplicates();
		}
	}

	private static LockEngine engine(LockProvider provider, List<FencingToken> refused) {
		EngineSettings settings = new EngineSettings("pod-1", Duration.ofSeconds(30), null, Duration.ofSeconds(30),
				null, true, Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofDays(90));
		return new LockEngine(provider, settings, List.of(new MutexListener() {

			@Override
			public void refused(Lease lease, StaleFencingTokenException refusal) {
				refused.add(refusal.getToken());
			}

		}));
	}

	private void assertHeldBack(RedisLockProvider provider, String key) {
		assertThat(provider.acquire(Requests.of(key))).isInstanceOfSatisfying(HeldBack.class,
				(heldBack) -> assertThat(heldBack.remaining()).isBetween(Duration.ofMillis(1), Requests.TTL));
	}

	/**
	 * Another key of the bucket of one.
	 */
	private static String inBucketOf(String key) {
		for (int i = 0; true; i++) {
			if (RedisKeys.bucket(key + "-" + i) == RedisKeys.bucket(key)) {
				return key + "-" + i;
			}
		}
	}

	/**
	 * Lets time pass for what a server knows of losses.
	 */
	private void pass(TestServer server, Duration time) {
		RedisKeys keys = new RedisKeys("mutex", this.namespace);
		try (Admin admin = new Admin(server)) {
			for (int bucket = 0; bucket < RedisKeys.BUCKETS; bucket++) {
				byte[] held = keys.held(bucket);
				if (admin.jedis().exists(held)) {
					admin.jedis().zincrby(held, time.toNanos() / 1000.0, "\u0001lost".getBytes());
				}
			}
		}
	}

	/**
	 * A replica whose link to its master can be cut.
	 */
	private static final class StaleReplica implements AutoCloseable {

		private final TestServer master = TestServers.newRedis("--repl-diskless-sync", "yes",
				"--repl-diskless-sync-delay", "0");

		private final CuttingProxy link = CuttingProxy.to(this.master.host(), this.master.port());

		private final TestServer server = TestServers.newRedis("--replicaof", "127.0.0.1",
				Integer.toString(this.link.port()));

		void cutAfter(Grant grant, RedisKeys keys) {
			try (Admin admin = new Admin(this.server)) {
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.until(() -> admin.jedis().exists(keys.lock(grant.key())));
			}
			this.link.cut();
		}

		/**
		 * Kills the master and puts the replica in its place.
		 * @return how often the master was asked to wait for replicas
		 */
		int promote() {
			int waits;
			try (Admin admin = new Admin(this.master)) {
				waits = admin.count("wait");
			}
			this.master.kill();
			try (Admin admin = new Admin(this.server)) {
				admin.jedis().replicaofNoOne();
			}
			return waits;
		}

		@Override
		public void close() {
			this.server.close();
			this.link.cut();
			this.master.close();
		}

	}

}
