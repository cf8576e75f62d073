package io.mutex.autoconfigure;

import javax.sql.DataSource;

import io.mutex.LockProvider;
import io.mutex.StoreSetupException;
import io.mutex.jdbc.JdbcFenceGuard;
import io.mutex.jdbc.JdbcLockProvider;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The guard of what is written to a database: where the locks live in it, else if it is
 * asked for.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ JdbcTemplate.class, EmbeddedDatabaseConnection.class })
class JdbcFenceConfiguration {

	@Bean
	@Lazy
	@Nullable JdbcFenceGuard mutexJdbcFenceGuard(LockProvider provider, MutexProperties properties,
			ListableBeanFactory beanFactory, LockProviderSelector selector) {
		if (provider instanceof JdbcLockProvider locks) {
			return JdbcFenceGuard.of(locks);
		}
		return properties.fenced().jdbc().enabled() ? new JdbcFenceGuard(dataSource(beanFactory), selector.namespace(),
				JdbcLockConfiguration.settings(properties)) : null;
	}

	private static DataSource dataSource(ListableBeanFactory beanFactory) {
		try {
			return JdbcLockConfiguration.dataSource(beanFactory);
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new StoreSetupException("mutex.fenced.jdbc.enabled is set, but the application has no DataSource.",
					"Add spring-boot-starter-jdbc and set spring.datasource.url, or remove the property.", ex);
		}
	}

}
