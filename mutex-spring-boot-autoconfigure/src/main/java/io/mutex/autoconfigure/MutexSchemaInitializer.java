package io.mutex.autoconfigure;

import javax.sql.DataSource;

import io.mutex.jdbc.JdbcSchema;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Creates the tables of the locks, where configuration says so and the locks or their
 * guard live in the database. A database initializer like those of Spring Boot.
 */
class MutexSchemaInitializer implements InitializingBean {

	private final MutexProperties properties;

	private final ListableBeanFactory beanFactory;

	private final LockProviderSelector selector;

	MutexSchemaInitializer(MutexProperties properties, ListableBeanFactory beanFactory, LockProviderSelector selector) {
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.selector = selector;
	}

	@Override
	public void afterPropertiesSet() {
		SchemaInitialization when = this.properties.jdbc().initializeSchema();
		if (!this.properties.enabled() || when == SchemaInitialization.NEVER || !isUsed()) {
			return;
		}
		DataSource dataSource = JdbcLockConfiguration.dataSource(this.beanFactory);
		if (when == SchemaInitialization.ALWAYS || JdbcLockConfiguration.isEmbedded(dataSource)) {
			JdbcSchema.create(dataSource, JdbcLockConfiguration.settings(this.properties));
		}
	}

	private boolean isUsed() {
		return this.properties.fenced().jdbc().enabled() || this.selector.isSelected(MutexProviderType.JDBC);
	}

}
