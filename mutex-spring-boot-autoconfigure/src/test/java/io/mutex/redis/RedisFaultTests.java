package io.mutex.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.Acquisition.Stale;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The Redis provider on servers that fail.
 */
class RedisFaultTests {

	private static final RunUnit UNIT = RunUnit.of("u");

	private static TestServer server;

	private final String namespace = "ns-" + UUID.randomUUID();

	@BeforeAll
	static void start() {
		server = TestServers.newRedis();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("R6 C107 a full memory is a store failure, and what is held can still be renewed and ended")
	void fullMemoryRefusesGrantsOnly(RedisClient client) {
		try (Connections connections = client.connect(server); Admin admin = new Admin(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant released = Requests.take(provider, "released");
			Grant begun = Requests.take(provider, Requests.of("begun", UNIT));
			Grant completed = Requests.take(provider, Requests.of("completed", UNIT));
			Grant failed = Requests.take(provider, Requests.of("failed", UNIT));
			Requests.take(provider, "forced");
			Grant reader = Requests.take(provider, Requests.of("together", AcquireRequest.SHARED, null));
			Grant other = Requests.take(provider, Requests.of("together", AcquireRequest.SHARED, null));
			Requests.take(provider, Requests.of("forced-together", 2, null));
			admin.jedis().configSet("maxmemory", "1");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(Requests.of("new")))
				.withMessageContaining("memory is full");
			assertThatExceptionOfType(MutexException.class).isThrownBy(provider::check)
				.withMessageContaining("memory is full");
			assertThat(provider.acquire(Requests.of("together", 1, Requests.newNonce()))).as("without a place")
				.isInstanceOf(Held.class);
			assertThat(provider.renew(List.of(released, begun, completed, failed, reader, other)))
				.containsOnly(Renewal.RENEWED);
			assertThat(provider.renew(List.of(reader))).containsOnly(Renewal.RENEWED);
			assertThat(provider.release("together", reader.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(provider.release("together", other.nonce(), true)).isEqualTo(Settlement.SETTLED);
			provider.forceRelease("forced-together");
			assertThat(provider.release("released", released.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(provider.release("begun", begun.nonce(), true)).isEqualTo(Settlement.SETTLED);
			assertThat(provider.complete(completed, "u")).isEqualTo(Settlement.SETTLED);
			assertThat(provider.fail(failed, "u", "broken", Duration.ZERO)).isEqualTo(Settlement.SETTLED);
			provider.forceRelease("forced");
			assertThat(provider.locks(10)).isEmpty();
			assertThat(provider.runs("completed", 1)).hasSize(1);
			admin.jedis().configSet("maxmemory", "0");
			Requests.take(provider, "new");
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C106 C107 a lock that vanished is lost: it is neither renewed nor completed nor made again")
	void vanishedLockIsLost(RedisClient client) {
		try (Connections connections = client.connect(server); Admin admin = new Admin(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Grant grant = Requests.take(provider, Requests.of("a", UNIT));
			admin.jedis().del(new RedisKeys("mutex", this.namespace).lock("a"));
			assertThat(provider.renew(List.of(grant))).containsExactly(Renewal.LOST);
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.runs("a", 1)).isEmpty();
			Grant next = Requests.take(provider, Requests.of("a", UNIT));
			assertThat(next.token()).isGreaterThan(grant.token());
			assertThat(provider.complete(grant, "u")).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.complete(next, "u")).isEqualTo(Settlement.SETTLED);
		}
	}

	@Test
	@DisplayName("R1 tokens rise over a restart without persistence")
	void tokensRiseOverALossOfData() {
		try (TestServer forgetful = TestServers.newRedis("--appendonly", "no")) {
			long token = 0;
			for (int i = 0; i < 3; i++) {
				try (Connections connections = RedisClient.JEDIS.connect(forgetful)) {
					RedisLockProvider provider = connections.provider(this.namespace);
					assertThat(provider.lock("a")).isEmpty();
					Grant grant = Requests.take(provider, "a");
					assertThat(grant.token()).isGreaterThan(token);
					token = grant.token();
				}
				forgetful.restart();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("N2 R9 a grant whose answer was lost is got by asking again, with the same token")
	void lostAnswerIsGotByAskingAgain(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			Requests.take(provider, "so that the server knows the script");
			AcquireRequest request = Requests.of("a");
			server.pause();
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(request));
			server.resume();
			Awaitility.await().ignoreExceptions().until(() -> provider.lock("a").isPresent());
			long token = provider.lock("a").orElseThrow().token();
			assertThat(provider.acquire(request)).isInstanceOfSatisfying(Granted.class,
					(granted) -> assertThat(granted.token()).isEqualTo(token));
			assertThat(provider.acquire(Requests.of("a"))).isInstanceOf(Held.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("N3 an acquisition that arrives after it was given up grants nothing")
	void lateAcquisitionIsStale(RedisClient client) {
		try (Connections connections = client.connect(server)) {
			RedisLockProvider provider = connections.provider(this.namespace);
			AcquireRequest request = Requests.of("a");
			assertThat(provider.release("a", request.nonce(), false)).isEqualTo(Settlement.NOT_OWNER);
			assertThat(provider.acquire(request)).isInstanceOf(Stale.class);
			Grant holder = Requests.take(provider, "a");
			AcquireRequest second = Requests.of("a");
			server.pause();
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> provider.acquire(second));
			server.resume();
			Awaitility.await().ignoreExceptions().until(() -> provider.lock("a").isPresent());
			provider.release("a", second.nonce(), false);
			provider.release("a", holder.nonce(), false);
			assertThat(provider.acquire(second)).isInstanceOf(Stale.class);
			assertThat(provider.lock("a")).isEmpty();
		}
	}

}
