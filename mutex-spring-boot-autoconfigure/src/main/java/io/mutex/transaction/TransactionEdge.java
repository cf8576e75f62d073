package io.mutex.transaction;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.TransactionalStore;
import io.mutex.engine.LockEngine;
import io.mutex.engine.TransactionalRun;
import io.mutex.transaction.RunSynchronization.RecordTarget;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Stands right inside the transaction advice of a method: refuses one in which its work
 * could not be confirmed, and hands the end of its run over to the transaction that the
 * advice has begun.
 */
final class TransactionEdge implements MethodInterceptor {

	private final Supplier<@Nullable LockEngine> engine;

	private final FenceCheck check;

	TransactionEdge(Supplier<@Nullable LockEngine> engine, FenceCheck check) {
		this.engine = engine;
		this.check = check;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		BoundConnection begun = begun();
		if (begun != null) {
			this.check.requireFit(begun, Leases.all());
		}
		Lease lease = RunLease.of(invocation);
		LockEngine engine = (lease != null) ? this.engine.get() : null;
		TransactionalStore store = (engine != null) ? engine.transactionalStore() : null;
		if (lease == null || engine == null || store == null
				|| CompletionStage.class.isAssignableFrom(invocation.getMethod().getReturnType())) {
			return invocation.proceed();
		}
		TransactionalRun joined = engine.joined(lease);
		if (joined != null) {
			return invokeJoined(invocation, joined);
		}
		OwnTransaction transaction = OwnTransaction.on(store.dataSource());
		TransactionalRun run = (transaction != null) ? engine.transactional(lease) : null;
		return (transaction != null && run != null) ? invoke(invocation, run, transaction, store)
				: invocation.proceed();
	}

	// that of the transaction that the advice has begun
	private static @Nullable BoundConnection begun() {
		try {
			TransactionStatus status = TransactionAspectSupport.currentTransactionStatus();
			return status.isNewTransaction() ? BoundConnection.of(status) : null;
		}
		catch (NoTransactionException ex) {
			return null;
		}
	}

	// the transaction goes on, and only its savepoint may be rolled back here
	private static @Nullable Object invokeJoined(MethodInvocation invocation, TransactionalRun run) throws Throwable {
		Object value = invocation.proceed();
		if (isRolledBackToSavepoint()) {
			run.failed(new MutexException(run.lease().key(),
					"the work returned, but was rolled back to the savepoint " + "that it began with"));
		}
		return value;
	}

	private static boolean isRolledBackToSavepoint() {
		try {
			return TransactionAspectSupport.currentTransactionStatus() instanceof DefaultTransactionStatus status
					&& status.hasSavepoint() && status.isLocalRollbackOnly();
		}
		catch (NoTransactionException ex) {
			return false;
		}
	}

	private @Nullable Object invoke(MethodInvocation invocation, TransactionalRun run, OwnTransaction transaction,
			TransactionalStore store) throws Throwable {
		requireFit(run.lease().key(), transaction, store);
		run.begun();
		RunSynchronization.own(run, new RecordTarget(store, transaction.connection()));
		Object value = invocation.proceed();
		if (value instanceof CompletionStage<?>) {
			run.withdrawn();
		}
		else {
			run.returned();
		}
		return value;
	}

	private void requireFit(String key, OwnTransaction transaction, TransactionalStore store) {
		String unfit = store
			.unfitIsolation(this.check.isolation().current(key, store.dataSource(), transaction.connection()));
		if (unfit != null) {
			throw new MutexException(key, "key '" + key + "': " + Isolation.problem(unfit) + ". " + Isolation.REMEDY
					+ "; the work was not run");
		}
	}

}
