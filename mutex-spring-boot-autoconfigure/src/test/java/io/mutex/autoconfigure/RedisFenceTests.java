package io.mutex.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.StoreSetupException;
import io.mutex.annotation.Fenced;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.RedisFenceGuard;
import io.mutex.redis.RedisSettings;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The guard in Redis in an application.
 */
@Tag("compatibility")
class RedisFenceTests {

	@TempDir
	Path directory;

	private ApplicationContextRunner bare() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.file.directory=" + this.directory,
					"mutex.provider=file");
	}

	private ApplicationContextRunner runner() {
		return bare().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.port=1");
	}

	@Test
	void isOffUnlessItIsAskedFor() {
		runner().run((context) -> assertThat(context).hasNotFailed()
			.doesNotHaveBean(RedisFenceGuard.class)
			.doesNotHaveBean(FencedRedisOperations.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "file", "memory", "redis" })
	void isThereBesideAnyProviderWithoutAConnection(String provider) {
		runner().withPropertyValues("mutex.fenced.redis.enabled=true", "mutex.provider=" + provider)
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RedisFenceGuard.class)
				.hasSingleBean(FencedRedisOperations.class));
	}

	@Test
	void backsOffFromTheApplicationsOwn() {
		runner().withPropertyValues("mutex.fenced.redis.enabled=true")
			.withBean("own", RedisFenceGuard.class,
					() -> new RedisFenceGuard(new LettuceConnectionFactory(), "own", RedisSettings.defaults(),
							Duration.ofDays(1)))
			.run((context) -> assertThat(context).hasSingleBean(RedisFenceGuard.class).hasBean("own"));
	}

	@Test
	void startsWithoutSpringDataRedis() {
		bare().withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class.getPackageName()))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockProvider.class));
	}

	@Test
	void saysThatThereIsNoConnection() {
		bare().withPropertyValues("mutex.fenced.redis.enabled=true").run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).rootCause().isInstanceOf(NoSuchBeanDefinitionException.class);
			assertThat(context.getStartupFailure()).hasStackTraceContaining(StoreSetupException.class.getName())
				.hasStackTraceContaining("mutex.fenced.redis.enabled is set");
		});
	}

	@Test
	void takesTheMarkedConnection() {
		TestServer server = TestServers.redis();
		runner().withBean("other", RedisConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 1))
			.withUserConfiguration(Marked.class)
			.withPropertyValues("mutex.fenced.redis.enabled=true", "marked.port=" + server.port())
			.run((context) -> context.getBean(RedisFenceGuard.class)
				.register(new Fence("a-" + UUID.randomUUID(), "a", new FencingToken(1), "n", true)));
	}

	@Test
	void writesOfAFencedMethodAreAccepted() {
		TestServer server = TestServers.redis();
		runner().withUserConfiguration(Account.class)
			.withPropertyValues("mutex.fenced.redis.enabled=true", "spring.data.redis.port=" + server.port(),
					"mutex.namespace=ns-" + UUID.randomUUID())
			.run((context) -> assertThat(context.getBean(Account.class).deposit("a-" + UUID.randomUUID(), null))
				.isEqualTo(7));
	}

	@Test
	void nobodyChecksWhereNothingIsLocked() {
		TestServer server = TestServers.redis();
		runner().withUserConfiguration(Account.class)
			.withPropertyValues("mutex.fenced.redis.enabled=true", "mutex.enabled=false",
					"spring.data.redis.port=" + server.port())
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(RedisFenceGuard.class);
				assertThat(context.getBean(Account.class).deposit("a-" + UUID.randomUUID(), null)).isEqualTo(7);
			});
	}

	/**
	 * Two connections, one of them marked.
	 */
	static class Marked {

		@Bean
		@MutexRedis
		RedisConnectionFactory locks(Environment environment) {
			return new LettuceConnectionFactory("localhost", environment.getRequiredProperty("marked.port", int.class));
		}

	}

	/**
	 * What an application does.
	 */
	static class Account {

		private final FencedRedisOperations fenced;

		Account(FencedRedisOperations fenced) {
			this.fenced = fenced;
		}

		@Fenced(key = "#{#id}")
		public long deposit(String id, Lease lease) {
			return this.fenced.on(lease).increment(FencedRedisOperations.key(id, "balance"), 3)
					+ this.fenced.on(id).increment(FencedRedisOperations.key(id, "balance"), 1);
		}

	}

}
