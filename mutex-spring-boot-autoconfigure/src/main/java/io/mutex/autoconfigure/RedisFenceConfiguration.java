package io.mutex.autoconfigure;

import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;

import io.mutex.StoreSetupException;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.RedisFenceGuard;
import io.mutex.redis.RedisSettings;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The guard of what is written to Redis, wherever the locks live.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBooleanProperty("mutex.fenced.redis.enabled")
class RedisFenceConfiguration {

	private static RedisFenceGuard guard(MutexProperties properties, ListableBeanFactory beanFactory,
			LockProviderSelector selector) {
		return new RedisFenceGuard(connections(beanFactory), selector.namespace(),
				new RedisSettings(properties.redis().keyPrefix()), retention(properties));
	}

	private static RedisConnectionFactory connections(ListableBeanFactory beanFactory) {
		try {
			return StoreBeans.find(beanFactory, RedisConnectionFactory.class, MutexRedis.class);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new StoreSetupException(
					"mutex.fenced.redis.enabled is set, but the application has no connection to Redis.",
					"Add spring-boot-starter-data-redis and set spring.data.redis.*, or remove the property.", ex);
		}
	}

	// As long as records stay, and no shorter than any hold.
	private static Duration retention(MutexProperties properties) {
		return Stream
			.of(properties.singleRun().retention(), properties.singleRun().maxHold(), properties.fenced().maxHold())
			.filter(Objects::nonNull)
			.max(Duration::compareTo)
			.orElseThrow();
	}

	/**
	 * Where methods are locked.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "mutex.enabled", matchIfMissing = true)
	static class Checked {

		@Bean
		@ConditionalOnMissingBean
		RedisFenceGuard mutexRedisFenceGuard(MutexProperties properties, ListableBeanFactory beanFactory,
				LockProviderSelector selector) {
			return guard(properties, beanFactory, selector);
		}

		@Bean
		@ConditionalOnMissingBean
		FencedRedisOperations mutexFencedRedisOperations(RedisFenceGuard guard) {
			return new FencedRedisOperations(guard);
		}

	}

	/**
	 * Where they are not, so that there is nothing to check.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "mutex.enabled", havingValue = false)
	static class Unchecked {

		@Bean
		@ConditionalOnMissingBean
		FencedRedisOperations mutexFencedRedisOperations(ListableBeanFactory beanFactory) {
			return FencedRedisOperations.unchecked(connections(beanFactory));
		}

	}

}
