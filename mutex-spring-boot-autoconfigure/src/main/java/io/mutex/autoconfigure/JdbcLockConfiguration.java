package io.mutex.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import io.mutex.LockProvider;
import io.mutex.jdbc.JdbcLockProvider;
import io.mutex.jdbc.JdbcSettings;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Locks in a database, where the application has one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ JdbcTemplate.class, EmbeddedDatabaseConnection.class })
@ConditionalOnBean(DataSource.class)
class JdbcLockConfiguration {

	@Bean
	LockProviderFactory mutexJdbcLockProviderFactory(MutexProperties properties, ListableBeanFactory beanFactory) {
		return new JdbcLockProviderFactory(properties, beanFactory);
	}

	@Bean
	MutexSchemaInitializer mutexSchemaInitializer(MutexProperties properties, ListableBeanFactory beanFactory,
			LockProviderSelector selector) {
		return new MutexSchemaInitializer(properties, beanFactory, selector);
	}

	static DataSource dataSource(ListableBeanFactory beanFactory) {
		return StoreBeans.find(beanFactory, DataSource.class, MutexDataSource.class);
	}

	static JdbcSettings settings(MutexProperties properties) {
		MutexProperties.Jdbc jdbc = properties.jdbc();
		return new JdbcSettings(jdbc.tablePrefix(), jdbc.schema(), jdbc.platform(), jdbc.poolSize(),
				shorter(jdbc.lockTimeout(), properties), shorter(jdbc.queryTimeout(), properties));
	}

	// An answer that is waited for longer than a lease lasts is of no use to it.
	private static Duration shorter(Duration timeout, MutexProperties properties) {
		Duration half = properties.shortestLease().dividedBy(2);
		return (timeout.compareTo(half) < 0) ? timeout : half;
	}

	// A tenant's database cannot be asked at start-up, and is not an embedded one.
	static boolean isEmbedded(DataSource dataSource) {
		try {
			return EmbeddedDatabaseConnection.isEmbedded(dataSource);
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	private record JdbcLockProviderFactory(MutexProperties properties,
			ListableBeanFactory beanFactory) implements LockProviderFactory {

		@Override
		public MutexProviderType type() {
			return MutexProviderType.JDBC;
		}

		@Override
		public LockProvider create(String namespace) {
			return new JdbcLockProvider(dataSource(this.beanFactory), namespace, settings(this.properties));
		}

		@Override
		public boolean isInMemory() {
			return isEmbedded(dataSource(this.beanFactory));
		}

	}

}
