package io.mutex.autoconfigure;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.mutex.engine.LockEngine;
import io.mutex.fence.FenceGuard;
import io.mutex.fence.TransactionGuard;
import io.mutex.transaction.CommitListenerPostProcessor;
import io.mutex.transaction.FenceCheck;
import io.mutex.transaction.GuardedDataSourcePostProcessor;
import io.mutex.transaction.TransactionModes;
import io.mutex.transaction.TransactionalRuns;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.function.SingletonSupplier;

/**
 * Confirmed leases and run records inside the application's transactions, where it has
 * JDBC transactions.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ ConnectionHolder.class, TransactionExecutionListener.class })
class TransactionalRecordConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CommitListenerPostProcessor mutexCommitListenerPostProcessor(FenceCheck check) {
		return new CommitListenerPostProcessor(check);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FenceCheck mutexFenceCheck(ObjectProvider<FenceGuard> guards, ObjectProvider<LockEngine> engine) {
		return new FenceCheck(SingletonSupplier.of(() -> guards.orderedStream()
			.filter(TransactionGuard.class::isInstance)
			.map(TransactionGuard.class::cast)
			.toList()), (lease) -> engine.ifAvailable((available) -> available.committing(lease)));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static GuardedDataSourcePostProcessor mutexGuardedDataSourcePostProcessor(FenceCheck check, Environment environment,
			ListableBeanFactory beanFactory) {
		return new GuardedDataSourcePostProcessor(check, () -> isGuardPossible(environment, beanFactory));
	}

	// nothing may be created for the answer
	private static boolean isGuardPossible(Environment environment, ListableBeanFactory beanFactory) {
		String provider = environment.getProperty("mutex.provider", MutexProviderType.JDBC.name());
		return provider.equalsIgnoreCase(MutexProviderType.JDBC.name())
				|| environment.getProperty("mutex.fenced.jdbc.enabled", Boolean.class, false)
				|| beanFactory.getBeanNamesForType(TransactionGuard.class, true, false).length > 1;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TransactionalRuns mutexTransactionalRuns(ObjectProvider<LockEngine> engine, FenceCheck check) {
		return new TransactionalRuns(remembered(engine), check);
	}

	// asked for at each call, where looking for a bean by its type takes longer than a
	// lock in memory; without a lock, which the creation of beans might wait for
	private static Supplier<@Nullable LockEngine> remembered(ObjectProvider<LockEngine> engine) {
		AtomicReference<@Nullable LockEngine> found = new AtomicReference<>();
		return () -> {
			LockEngine known = found.get();
			if (known == null) {
				known = engine.getIfAvailable();
				found.set(known);
			}
			return known;
		};
	}

	@Bean
	TransactionModes mutexTransactionModes(TransactionalRuns runs, ObjectProvider<LockEngine> engine,
			ListableBeanFactory beanFactory, FenceCheck check) {
		return new TransactionModes(runs, engine::getIfAvailable, beanFactory, check);
	}

	/**
	 * The metrics of the pools behind proxies.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataSourcePoolMetadataProvider.class)
	static class PoolMetadataConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static PoolMetadataPostProcessor mutexPoolMetadataPostProcessor() {
			return new PoolMetadataPostProcessor();
		}

	}

}
