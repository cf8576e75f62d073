package io.mutex.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Does what has to be a part of a transaction, as the last thing before its commit: has
 * the guards of its database confirm the leases under which it worked, and records the
 * runs that end with it, which is a confirmation in itself.
 * <p>
 * What it throws then rolls the transaction back, unless it is a
 * {@link TransactionException}: of that, a transaction manager thinks that the commit
 * itself has failed. A transaction that could not be committed is refused before it
 * begins, while it has no connection that would have to be given back.
 */
final class CommitListener implements TransactionExecutionListener {

	/** That of this thread's transaction, if it has no synchronization. */
	private static final ThreadLocal<@Nullable Confirmation> UNSYNCHRONIZED = new ThreadLocal<>();

	private final ConfigurableTransactionManager manager;

	private final FenceCheck check;

	private CommitListener(ConfigurableTransactionManager manager, FenceCheck check) {
		this.manager = manager;
		this.check = check;
	}

	/**
	 * Gives a transaction manager the listener, unless it has it.
	 * @param manager the transaction manager
	 * @param check confirms leases
	 */
	static void addTo(ConfigurableTransactionManager manager, FenceCheck check) {
		if (manager.getTransactionExecutionListeners().stream().noneMatch(CommitListener.class::isInstance)) {
			manager.addListener(new CommitListener(manager, check));
		}
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		List<Lease> leases = transaction.isNewTransaction() ? FenceCheck.fenced(Leases.all()) : List.of();
		DataSource dataSource = leases.isEmpty() ? null : DataSources.of(this.manager);
		if (dataSource == null || !this.check.isGuarded(dataSource)) {
			return;
		}
		leases.forEach(Lease::assertValid);
		if (!transaction.isReadOnly()) {
			this.check.requireNoSnapshotBeside(dataSource, leases.get(0).key());
		}
		GuardedConnections.beginning(dataSource);
	}

	// must not throw: the transaction has its connection, and nobody would end it
	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		GuardedConnections.begun();
		List<Lease> leases = (failure == null && transaction.isNewTransaction()) ? FenceCheck.fenced(Leases.all())
				: List.of();
		if (!leases.isEmpty() && TransactionSynchronizationManager.isSynchronizationActive()) {
			OpenTransaction.register(BoundConnection.of(transaction));
			leases.forEach(TiedLease::tie);
		}
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		// what is nested ends at its savepoint, and the transaction goes on
		if (!transaction.isNewTransaction() || transaction.isRollbackOnly()) {
			return;
		}
		BoundConnection connection = BoundConnection.of(transaction);
		List<Step> steps = steps(connection);
		if (!steps.isEmpty()) {
			flush(steps.get(0).key(), transaction);
			// in one order for all transactions, since each step locks a row until the
			// end
			steps.sort(Comparator.comparing(Step::resource));
			steps.forEach((step) -> step.action().run());
		}
		if (connection != null && !Leases.all().isEmpty()) {
			GuardedConnection.confirmed(connection.holder().getConnection());
		}
	}

	private List<Step> steps(@Nullable BoundConnection connection) {
		List<Step> steps = new ArrayList<>();
		Set<Lease> leases = Collections.newSetFromMap(new IdentityHashMap<>());
		leases.addAll(Leases.all());
		leases.addAll(TiedLease.current());
		List<RunSynchronization> runs = RunSynchronization.current();
		runs.stream().filter(RunSynchronization::isTied).map(RunSynchronization::lease).forEach(leases::add);
		for (RunSynchronization run : runs) {
			if (run.isToBeRecorded()) {
				leases.remove(run.lease());
				steps.add(new Step(run.lease().key(), run.lease().key(), run::record));
			}
		}
		if (connection == null) {
			requireNoGuard(FenceCheck.fenced(leases));
		}
		Confirmation confirmation = (!leases.isEmpty() && connection != null)
				? this.check.confirmation(connection, leases) : null;
		if (confirmation != null) {
			confirmation.targets()
				.forEach((target) -> steps.add(new Step(target.fence().resource(), target.lease().key(),
						() -> confirm(confirmation, target))));
		}
		return steps;
	}

	private void requireNoGuard(List<Lease> leases) {
		DataSource dataSource = leases.isEmpty() ? null : DataSources.of(this.manager);
		if (dataSource != null && this.check.isGuarded(dataSource)) {
			String key = leases.get(0).key();
			throw new MutexException(key, "the lease of key '" + key + "' cannot be confirmed, and the transaction is "
					+ "rolled back: its manager " + this.manager.getClass().getName() + " does not show the "
					+ "connection. An entity manager needs a JpaDialect that does, such as HibernateJpaDialect");
		}
	}

	private static void confirm(Confirmation confirmation, Confirmation.Target target) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			UNSYNCHRONIZED.set(confirmation);
		}
		else if (!TransactionSynchronizationManager.getSynchronizations().contains(confirmation)) {
			TransactionSynchronizationManager.registerSynchronization(confirmation);
		}
		confirmation.confirm(target);
	}

	// what an entity manager would write in the commit has to come before
	private static void flush(String key, TransactionExecution transaction) {
		try {
			if (transaction instanceof TransactionStatus status) {
				status.flush();
			}
		}
		catch (TransactionException ex) {
			throw new MutexException(key, "the changes of key '" + key
					+ "' could not be written, and the transaction is rolled back: " + ex.getMessage(), ex);
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
		ended();
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
		ended();
	}

	private static void ended() {
		Confirmation confirmation = UNSYNCHRONIZED.get();
		if (confirmation != null) {
			UNSYNCHRONIZED.remove();
			confirmation.end();
		}
	}

	/**
	 * Something to do before the commit.
	 *
	 * @param resource what it locks
	 * @param key the key that it is done for
	 * @param action what it is
	 */
	private record Step(String resource, String key, Runnable action) {

	}

}
