package io.mutex.transaction;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import io.mutex.MutexException;
import io.mutex.TransactionalStore;
import io.mutex.engine.LockEngine;
import io.mutex.interceptor.MutexConfigurationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.context.SmartLifecycle;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/**
 * Says at start-up for each single run whether its record is a part of its transaction,
 * and refuses an isolation level under which the transaction of a protected method could
 * neither be recorded nor confirmed.
 */
public final class TransactionModes implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(TransactionModes.class);

	private final TransactionalRuns runs;

	private final Supplier<@Nullable LockEngine> engine;

	private final ListableBeanFactory beanFactory;

	private final FenceCheck check;

	private final Set<RunMethod> told = ConcurrentHashMap.newKeySet();

	private volatile boolean running;

	/**
	 * Creates the report.
	 * @param runs knows the single runs
	 * @param engine gives the engine, or {@code null}
	 * @param beanFactory has the transaction managers
	 * @param check confirms leases
	 */
	public TransactionModes(TransactionalRuns runs, Supplier<@Nullable LockEngine> engine,
			ListableBeanFactory beanFactory, FenceCheck check) {
		this.runs = runs;
		this.engine = engine;
		this.beanFactory = beanFactory;
		this.check = check;
	}

	@Override
	public void start() {
		listenToAll();
		LockEngine engine = this.runs.methods().isEmpty() ? null : this.engine.get();
		if (engine != null) {
			for (RunMethod method : this.runs.methods()) {
				if (this.told.add(method)) {
					if (method.recorded()) {
						tell(method, engine.transactionalStore());
					}
					requireConfirmable(method);
				}
			}
		}
		this.running = true;
	}

	// a transaction manager may have been created before the post-processor was
	private void listenToAll() {
		for (String name : this.beanFactory.getBeanNamesForType(ConfigurableTransactionManager.class, false, false)) {
			if (this.beanFactory.getBean(name) instanceof ConfigurableTransactionManager manager) {
				CommitListener.addTo(manager, this.check);
			}
		}
	}

	private void tell(RunMethod method, @Nullable TransactionalStore store) {
		TransactionAttribute transaction = method.transaction();
		String reason = afterTheRun(method, transaction, store);
		if (reason != null || transaction == null || store == null) {
			logger.info("Record of {}: after the run: {}", method, reason);
			return;
		}
		requireFit(method, transaction, store);
		logger.info("Record of {}: in the transaction", method);
	}

	private @Nullable String afterTheRun(RunMethod method, @Nullable TransactionAttribute transaction,
			@Nullable TransactionalStore store) {
		if (store == null) {
			return "the locks are not in a database";
		}
		if (transaction == null) {
			return "the method is not transactional";
		}
		int propagation = transaction.getPropagationBehavior();
		if (propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED
				|| propagation == TransactionDefinition.PROPAGATION_NEVER) {
			return "its propagation excludes a transaction";
		}
		if (transaction.isReadOnly()) {
			return "its transaction is read-only";
		}
		if (method.returnsStage()) {
			return "it returns a stage, which completes after the transaction";
		}
		return isOn(store.dataSource(), transaction) ? null
				: "its transaction manager is not one of the DataSource that keeps the locks";
	}

	private boolean isOn(DataSource dataSource, TransactionAttribute transaction) {
		DataSource managed = dataSource(transaction);
		return managed != null && DataSources.isSame(managed, dataSource);
	}

	private @Nullable DataSource dataSource(TransactionAttribute transaction) {
		return (manager(transaction.getQualifier()) instanceof ConfigurableTransactionManager manager)
				? DataSources.of(manager) : null;
	}

	private @Nullable TransactionManager manager(@Nullable String qualifier) {
		try {
			return StringUtils.hasText(qualifier) ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory,
					TransactionManager.class, qualifier)
					: this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
		}
		catch (BeansException ex) {
			logger.debug("No transaction manager '{}'", qualifier, ex);
			return null;
		}
	}

	private static void requireFit(RunMethod method, TransactionAttribute transaction, TransactionalStore store) {
		requireFit(method, transaction, store::unfitIsolation, Isolation::problem, Isolation.REMEDY);
	}

	private void requireConfirmable(RunMethod method) {
		TransactionAttribute transaction = method.transaction();
		DataSource dataSource = (transaction != null && !transaction.isReadOnly() && method.isFencedByKey())
				? dataSource(transaction) : null;
		if (transaction != null && dataSource != null) {
			requireFit(method, transaction, (isolation) -> this.check.unfitIsolation(dataSource, isolation),
					Isolation::unconfirmable, Isolation.LEVEL);
		}
	}

	private static void requireFit(RunMethod method, TransactionAttribute transaction,
			IntFunction<@Nullable String> unfitness, UnaryOperator<String> problem, String remedy) {
		int isolation = transaction.getIsolationLevel();
		if (isolation == TransactionDefinition.ISOLATION_DEFAULT) {
			return;
		}
		String unfit = null;
		try {
			unfit = unfitness.apply(isolation);
		}
		catch (MutexException ex) {
			logger.debug("The isolation of {} is looked at when it is called", method, ex);
		}
		if (unfit != null) {
			throw new MutexConfigurationException(method.beanName(), method.toString(), problem.apply(unfit), remedy,
					null);
		}
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

}
