package io.mutex.redis;

import java.time.Duration;
import java.util.UUID;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link RedisFenceGuard}.
 */
class RedisFenceGuardTests {

	private final String namespace = "ns-" + UUID.randomUUID();

	private final Connections connections = RedisClient.LETTUCE.connect(TestServers.redis());

	private final Admin admin = new Admin(TestServers.redis());

	private RedisFenceGuard guard;

	@BeforeEach
	void createGuard() {
		this.guard = this.connections.guard(this.namespace);
	}

	@AfterEach
	void disconnect() {
		this.admin.close();
		this.connections.close();
	}

	@Test
	void laterGrantIsRegisteredAndTheSameOneAgain() {
		Fence first = fence("a", "a", 5);
		this.guard.register(first);
		this.guard.register(first);
		Fence second = fence("a", "a", 6);
		this.guard.register(second);
		this.guard.register(second);
	}

	@Test
	@DisplayName("R2 an earlier grant is refused, and so is another one with the same token")
	void earlierAndEqualGrantsAreRefused() {
		this.guard.register(fence("a", "a", 5));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.guard.register(fence("a", "a", 4)))
			.satisfies((ex) -> {
				assertThat(ex.getResource()).isEqualTo("a");
				assertThat(ex.getToken()).isEqualTo(new FencingToken(4));
				assertThat(ex.getAccepted()).isEqualTo(new FencingToken(5));
			});
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.guard.register(fence("a", "a", 5)));
	}

	@Test
	@DisplayName("R10 tokens that differ in their last digit only are told apart up to the greatest")
	void greatTokensAreToldApart() {
		long greatest = FencingToken.LIMIT - 1;
		this.guard.register(fence("a", "a", greatest - 1));
		this.guard.register(fence("a", "a", greatest));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.guard.register(fence("a", "a", greatest - 1)))
			.satisfies((ex) -> assertThat(ex.getAccepted().value()).isEqualTo(greatest));
	}

	@Test
	@DisplayName("C73 a resource belongs to one key, and the refusal of another names both")
	void resourceOfAnotherKeyIsRefused() {
		this.guard.register(fence("account", "from", 5));
		assertThatExceptionOfType(MutexException.class).isThrownBy(() -> this.guard.register(fence("account", "to", 6)))
			.isNotInstanceOf(StaleFencingTokenException.class)
			.withMessageContaining("'account'")
			.withMessageContaining("belongs to key 'from'")
			.withMessageContaining("key 'to'")
			.withMessageContaining("mutex:{account}:fence:" + this.namespace);
	}

	@Test
	void namespacesAndResourcesAreApart() {
		this.guard.register(fence("a", "a", 5));
		this.guard.register(fence("b", "b", 4));
		RedisFenceGuard other = this.connections.guard("ns-" + UUID.randomUUID());
		other.register(fence("a", "b", 3));
	}

	@Test
	void revocationRefusesAllGrantsOfTheKeySoFarAtAllItsResources() {
		this.guard.register(fence("a", "a", 5));
		this.guard.register(fence("other", "a", 5));
		Fence late = fence("a", "a", 6);
		this.guard.revoke("a", new FencingToken(7), Requests.newNonce());
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> this.guard.register(late));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.guard.register(fence("other", "a", 6)));
		assertThatNoException().isThrownBy(() -> this.guard.register(fence("other", "a", 8)));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.guard.revoke("a", new FencingToken(8), Requests.newNonce()));
		this.guard.revoke("never registered", new FencingToken(7), Requests.newNonce());
	}

	@Test
	void guardIsKeptForItsRetentionFromTheLastRegistrationOn() {
		RedisFenceGuard guard = new RedisFenceGuard(this.connections.factory(), this.namespace,
				RedisSettings.defaults(), Duration.ofDays(50));
		String key = new FenceKeys("mutex", this.namespace).guard("a");
		Fence fence = fence("a", "a", 5);
		guard.register(fence);
		assertThat(this.admin.jedis().pttl(key)).isBetween(Duration.ofDays(49).toMillis(),
				Duration.ofDays(50).toMillis());
		this.admin.jedis().pexpire(key, Duration.ofDays(1).toMillis());
		guard.register(fence);
		assertThat(this.admin.jedis().pttl(key)).isGreaterThan(Duration.ofDays(49).toMillis());
	}

	@Test
	void unfitSettingsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.connections.guard(" "));
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisFenceGuard(this.connections.factory(), "a",
				RedisSettings.defaults(), Duration.ofNanos(1)));
	}

	private static Fence fence(String resource, String key, long token) {
		return new Fence(resource, key, new FencingToken(token), Requests.newNonce(), true);
	}

}
