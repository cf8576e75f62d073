package io.mutex.autoconfigure;

import javax.sql.DataSource;

import io.mutex.fence.GuardedDataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

/**
 * Shows the metrics of pools the pool itself instead of the proxy before it, since they
 * read its fields.
 */
final class PoolMetadataPostProcessor implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSourcePoolMetadataProvider provider) ? ofPool(provider) : bean;
	}

	private static DataSourcePoolMetadataProvider ofPool(DataSourcePoolMetadataProvider provider) {
		return (dataSource) -> provider.getDataSourcePoolMetadata(pool(dataSource));
	}

	private static DataSource pool(DataSource dataSource) {
		return (dataSource instanceof GuardedDataSource guarded) ? guarded.unguarded().get() : dataSource;
	}

}
