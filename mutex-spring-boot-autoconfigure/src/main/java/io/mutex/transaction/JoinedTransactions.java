package io.mutex.transaction;

import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

import io.mutex.FencingPolicy;
import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.TransactionalStore;
import io.mutex.engine.LockEngine;
import io.mutex.engine.TransactionalRun;
import io.mutex.transaction.RunSynchronization.RecordTarget;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Calls inside a transaction of their caller: the run ends with that transaction.
 */
final class JoinedTransactions {

	private final FenceCheck check;

	JoinedTransactions(FenceCheck check) {
		this.check = check;
	}

	/**
	 * Makes the current transaction decide the end of a run.
	 * @param engine the engine
	 * @param request what is asked for
	 * @param body the body
	 * @return the body to run
	 * @throws MutexException if the isolation of the transaction forbids it
	 */
	@SuppressWarnings("NullAway") // it does not look into type arguments
	LeaseCallback<@Nullable Object, Throwable> first(LockEngine engine, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body) {
		RecordTarget target = target(engine);
		if (target != null) {
			this.check.isolation().requireFreshReads(request.key(), target.store().dataSource(), target.connection());
		}
		else if (isFenced(request)) {
			this.check.requireFreshReads(request.key());
		}
		return (lease) -> {
			TransactionalRun run = engine.joining(lease);
			if (run == null) {
				return body.run(lease);
			}
			RunSynchronization.joined(run, target);
			Object value = attempt(run, lease, body);
			if (value instanceof CompletionStage<?>) {
				run.withdrawn();
			}
			return value;
		};
	}

	/**
	 * Makes the current transaction decide how long a lease without a record is held.
	 * @param engine the engine
	 * @param request what is asked for
	 * @param body the body
	 * @return the body to run
	 * @throws MutexException if the isolation of the transaction forbids it
	 */
	@SuppressWarnings("NullAway") // it does not look into type arguments
	LeaseCallback<@Nullable Object, Throwable> held(LockEngine engine, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body) {
		Lease held = Leases.find(request.key()).orElse(null);
		// one that began under the lease reads nothing older
		if (isFenced(request) && (held == null || !TiedLease.current().contains(held))) {
			this.check.requireFreshReads(request.key());
		}
		if (held != null) {
			return (Leases.all().contains(held) || RunSynchronization.ties(held)) ? body : (lease) -> {
				TiedLease.tie(lease);
				return body.run(lease);
			};
		}
		return (lease) -> {
			TransactionalRun run = engine.joining(lease);
			if (run == null) {
				return body.run(lease);
			}
			RunSynchronization.joined(run, null);
			return attempt(run, lease, (granted) -> {
				Object value = body.run(granted);
				granted.assertValid();
				return value;
			});
		};
	}

	/**
	 * Lets a call be that takes part in no transaction that tells of its end.
	 * @param request what is asked for
	 * @param body the body
	 * @return the body to run
	 * @throws MutexException if there is a transaction that does not tell
	 */
	LeaseCallback<@Nullable Object, Throwable> alone(LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body) {
		Lease held = Leases.find(request.key()).orElse(null);
		if (isFenced(request) && (held == null || !Leases.all().contains(held))) {
			this.check.requireNoSilentTransaction(request.key());
		}
		return body;
	}

	private static boolean isFenced(LockRequest request) {
		return request.fencing().mode() != FencingPolicy.Mode.NONE;
	}

	/**
	 * Makes the current transaction decide the end of a run that a condition finds done,
	 * since the condition may see what is not committed.
	 * @param engine the engine
	 * @param request the request
	 * @return the request to make
	 */
	LockRequest conditional(LockEngine engine, LockRequest request) {
		BooleanSupplier unless = request.unless();
		return (unless != null) ? request.withUnless(() -> isDone(engine, request.key(), unless)) : request;
	}

	private static boolean isDone(LockEngine engine, String key, BooleanSupplier unless) {
		boolean done = unless.getAsBoolean();
		TransactionalRun run = done ? Leases.find(key).map(engine::joining).orElse(null) : null;
		if (run != null) {
			RunSynchronization.joined(run, target(engine));
			run.returned();
		}
		return done;
	}

	/**
	 * Runs a body under a lease that this thread holds already.
	 * @param engine the engine
	 * @param held the lease
	 * @param joins whether the call takes part in the current transaction
	 * @param body the body
	 * @return the body to run
	 * @throws MutexException if the lease belongs to a suspended transaction
	 */
	@SuppressWarnings("NullAway") // it does not look into type arguments
	LeaseCallback<@Nullable Object, Throwable> again(LockEngine engine, Lease held, boolean joins,
			LeaseCallback<@Nullable Object, Throwable> body) {
		TransactionalRun run = engine.joined(held);
		if (run == null || run.isRunning() || run.isProvisionallyDone()) {
			return body;
		}
		if (!joins || !RunSynchronization.isCurrent(run)) {
			throw new MutexException(held.key(), "key '" + held.key() + "' is held by a suspended transaction of "
					+ "this call, in which its work has failed; the work was not run");
		}
		return (lease) -> {
			try (Leases.Scope scope = Leases.bind(lease)) {
				Object value = attempt(run, lease, body);
				if (value instanceof CompletionStage<?>) {
					run.withdrawn();
				}
				return value;
			}
		};
	}

	private static @Nullable Object attempt(TransactionalRun run, Lease lease,
			LeaseCallback<@Nullable Object, Throwable> body) throws Throwable {
		run.begun();
		Object value;
		try {
			value = body.run(lease);
		}
		catch (Throwable ex) {
			run.failed(ex);
			throw ex;
		}
		if (run.isRunning()) {
			run.returned();
		}
		return value;
	}

	// null if the transaction is on another database, or read-only
	private static @Nullable RecordTarget target(LockEngine engine) {
		TransactionalStore store = engine.transactionalStore();
		if (store == null || TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			return null;
		}
		ConnectionHolder connection = DataSources.current(store.dataSource());
		return (connection != null && DataSources.isTransactional(connection)) ? new RecordTarget(store, connection)
				: null;
	}

}
