package io.mutex.autoconfigure;

import io.mutex.StoreSetupException;
import io.mutex.fence.FenceGuard;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Guards that are asked for without what they need on the class path.
 */
@Configuration(proxyBeanMethods = false)
class MissingFenceTechnologyConfiguration {

	@Bean
	@ConditionalOnBooleanProperty("mutex.fenced.redis.enabled")
	@ConditionalOnMissingClass("org.springframework.data.redis.connection.RedisConnectionFactory")
	FenceGuard mutexMissingRedis() {
		throw new StoreSetupException("mutex.fenced.redis.enabled is set, but Spring Data Redis is not there.",
				"Add spring-boot-starter-data-redis, or remove the property.", null);
	}

	@Bean
	@ConditionalOnBooleanProperty("mutex.fenced.jdbc.enabled")
	@ConditionalOnMissingClass("org.springframework.jdbc.core.JdbcTemplate")
	FenceGuard mutexMissingJdbc() {
		throw new StoreSetupException("mutex.fenced.jdbc.enabled is set, but Spring JDBC is not there.",
				"Add spring-boot-starter-jdbc and a driver, or remove the property.", null);
	}

}
