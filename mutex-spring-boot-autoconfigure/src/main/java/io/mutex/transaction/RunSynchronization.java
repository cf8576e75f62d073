package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.TransactionalStore;
import io.mutex.engine.TransactionalRun;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Ties a run to a transaction: records it before the commit and tells the engine how the
 * transaction has ended.
 */
final class RunSynchronization implements TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(RunSynchronization.class);

	private final TransactionalRun run;

	/** The savepoints that leave the work as it is. */
	private final Set<Object> later = Collections.newSetFromMap(new IdentityHashMap<>());

	private final @Nullable RecordTarget target;

	private final Leases.@Nullable Scope retained;

	private @Nullable Connection limited;

	private boolean ended;

	private RunSynchronization(TransactionalRun run, @Nullable RecordTarget target, Leases.@Nullable Scope retained) {
		this.run = run;
		this.target = target;
		this.retained = retained;
	}

	/**
	 * Ties a run to the transaction that its own call has begun.
	 * @param run the run
	 * @param target where it is recorded
	 */
	static void own(TransactionalRun run, RecordTarget target) {
		TransactionSynchronizationManager.registerSynchronization(new RunSynchronization(run, target, null));
	}

	/**
	 * Ties a run to a transaction that goes on after its call.
	 * @param run the run
	 * @param target where it is recorded, or {@code null} if the transaction cannot
	 */
	static void joined(TransactionalRun run, @Nullable RecordTarget target) {
		TransactionSynchronizationManager
			.registerSynchronization(new RunSynchronization(run, target, Leases.retain(run.lease())));
	}

	/**
	 * Whether the current transaction of this thread is the one that a run is tied to.
	 * @param run the run
	 * @return {@code false} also if that transaction is suspended
	 */
	static boolean isCurrent(TransactionalRun run) {
		return current().stream().anyMatch((candidate) -> candidate.run == run);
	}

	/**
	 * Whether the current transaction of this thread decides how long a lease is held.
	 * @param lease the lease
	 * @return {@code false} also if that transaction is suspended
	 */
	static boolean ties(Lease lease) {
		return current().stream().anyMatch((candidate) -> candidate.isTied() && candidate.lease() == lease);
	}

	/**
	 * The runs that are tied to the current transaction of this thread.
	 * @return the runs
	 */
	static List<RunSynchronization> current() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.filter(RunSynchronization.class::isInstance)
					.map(RunSynchronization.class::cast)
					.toList()
				: List.of();
	}

	Lease lease() {
		return this.run.lease();
	}

	private String key() {
		return lease().key();
	}

	/**
	 * Whether the lease is held until the transaction ends.
	 * @return {@code false} if it ends by itself
	 */
	boolean isTied() {
		return this.retained != null && this.run.outlivesCall();
	}

	boolean isToBeRecorded() {
		return this.target != null && this.run.isToBeRecorded();
	}

	void record() {
		if (this.target != null) {
			Connection connection = this.target.connection().getConnection();
			try {
				this.run.record(this.target.store(), connection);
			}
			finally {
				this.limited = this.run.isRecordAsked() ? connection : null;
			}
		}
	}

	// as early as possible, since what comes next may use the connection
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public void savepoint(Object savepoint) {
		if (this.run.isProvisionallyDone()) {
			this.later.add(savepoint);
		}
	}

	@Override
	public void savepointRollback(Object savepoint) {
		if (this.run.isProvisionallyDone() && !this.later.contains(savepoint)) {
			this.run.failed(new MutexException(key(),
					"the work returned, but was rolled back to a savepoint that its transaction had before"));
		}
	}

	@Override
	public void afterCommit() {
		end(true);
	}

	// one that was registered after the commit is told only this
	@Override
	public void afterCompletion(int status) {
		if (status == STATUS_UNKNOWN && !this.ended && isToBeRecorded()) {
			rollBack();
		}
		end(status == STATUS_COMMITTED);
	}

	// A commit that has failed before the record is not always rolled back, and then the
	// connection commits the work when it goes back to automatic commits.
	private void rollBack() {
		try {
			if (this.target != null) {
				this.target.connection().getConnection().rollback();
			}
		}
		catch (SQLException ex) {
			logger.debug("A transaction whose commit has failed is not rolled back; key={}", key(), ex);
		}
	}

	private void end(boolean committed) {
		if (this.ended) {
			return;
		}
		this.ended = true;
		restore();
		if (this.retained != null) {
			this.retained.close();
		}
		this.run.ended(committed);
	}

	private void restore() {
		Connection connection = this.limited;
		this.limited = null;
		if (connection != null && this.target != null) {
			this.target.store().restore(connection);
		}
	}

	/**
	 * Where a transaction records runs.
	 *
	 * @param store the store
	 * @param connection the connection of the transaction
	 */
	record RecordTarget(TransactionalStore store, ConnectionHolder connection) {

	}

}
