package io.mutex.autoconfigure;

import java.util.Set;

import io.mutex.LockProvider;
import io.mutex.jdbc.JdbcFenceGuard;

import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDependsOnDatabaseInitializationDetector;

/**
 * Makes the lock provider and the guard of a database wait for the initialization of the
 * database.
 */
final class LockProviderDependsOnDatabaseInitializationDetector
		extends AbstractBeansOfTypeDependsOnDatabaseInitializationDetector {

	@Override
	protected Set<Class<?>> getDependsOnDatabaseInitializationBeanTypes() {
		return Set.of(LockProvider.class, JdbcFenceGuard.class);
	}

}
