package io.mutex.autoconfigure;

import java.time.Duration;

import io.mutex.LockProvider;
import io.mutex.redis.RedisLockProvider;
import io.mutex.redis.RedisSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Locks in Redis, where the application has a connection to it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBean(RedisConnectionFactory.class)
class RedisLockConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RedisLockConfiguration.class);

	@Bean
	LockProviderFactory mutexRedisLockProviderFactory(MutexProperties properties, ListableBeanFactory beanFactory) {
		return LockProviderFactory.of(MutexProviderType.REDIS,
				(namespace) -> provider(properties, beanFactory, namespace));
	}

	private static LockProvider provider(MutexProperties properties, ListableBeanFactory beanFactory,
			String namespace) {
		RedisConnectionFactory connections = StoreBeans.find(beanFactory, RedisConnectionFactory.class,
				MutexRedis.class);
		if (ClassUtils.isPresent("io.lettuce.core.RedisClient", beanFactory.getClass().getClassLoader())) {
			Lettuce.warnOfTimeout(connections, properties.shortestLease().dividedBy(2));
		}
		return new RedisLockProvider(connections, namespace, new RedisSettings(properties.redis().keyPrefix()));
	}

	/**
	 * Loaded only where its client is there.
	 */
	private static final class Lettuce {

		private Lettuce() {
		}

		// An answer that is waited for longer than a lease lasts is of no use to it.
		static void warnOfTimeout(RedisConnectionFactory connections, Duration longest) {
			if (connections instanceof LettuceConnectionFactory lettuce
					&& lettuce.getClientConfiguration().getCommandTimeout().compareTo(longest) > 0) {
				logger.warn(
						"An answer of Redis is waited for up to {}, which a lease may not outlast: "
								+ "set spring.data.redis.timeout to at most {}",
						lettuce.getClientConfiguration().getCommandTimeout(), longest);
			}
		}

	}

}
