package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.mutex.Fence;
import io.mutex.Lease;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.TransactionGuard;

import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * What the guards of a database confirm as a part of one transaction, until it has ended.
 */
final class Confirmation implements TransactionSynchronization {

	private final Connection connection;

	private final List<Target> targets;

	private final Set<TransactionGuard> asked = new LinkedHashSet<>();

	private final Consumer<Lease> committing;

	Confirmation(Connection connection, List<Target> targets, Consumer<Lease> committing) {
		this.connection = connection;
		this.committing = committing;
		this.targets = List.copyOf(targets);
	}

	/**
	 * What has to be confirmed.
	 * @return the targets, ordered by resource
	 */
	List<Target> targets() {
		return this.targets;
	}

	/**
	 * Confirms everything.
	 * @throws MutexException if a guard refuses, so that the transaction must be rolled
	 * back
	 */
	void confirmAll() {
		this.targets.forEach(this::confirm);
	}

	/**
	 * Confirms a lease at a guard.
	 * @param target one of the targets
	 * @throws MutexException if the guard refuses, so that the transaction must be rolled
	 * back; never a {@link TransactionException}
	 */
	void confirm(Target target) {
		this.asked.add(target.guard());
		Lease lease = target.lease();
		this.committing.accept(lease);
		try {
			// a lost one is asked for as well: the guard says who has come after it
			target.guard().confirm(this.connection, target.fence(), lease.isValid() ? lease.remaining() : null);
			lease.assertValid();
		}
		catch (StaleFencingTokenException ex) {
			lease.refused(ex);
			throw ex;
		}
		catch (SQLException | TransactionException ex) {
			throw new MutexException(lease.key(),
					target.guard().name() + " could not confirm the lease of key '" + lease.key() + "' with token "
							+ lease.token() + " for resource '" + target.fence().resource()
							+ "', and the transaction is rolled back: " + ex.getMessage(),
					ex);
		}
	}

	/**
	 * Gives the connection back as it was, once the transaction has ended.
	 */
	void end() {
		List<TransactionGuard> guards = List.copyOf(this.asked);
		this.asked.clear();
		guards.forEach((guard) -> guard.restore(this.connection));
	}

	// as early as possible, since what comes next may use the connection
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public void afterCommit() {
		end();
	}

	@Override
	public void afterCompletion(int status) {
		end();
	}

	/**
	 * A lease that a guard has to confirm.
	 *
	 * @param guard the guard
	 * @param lease the lease
	 * @param fence what the guard knows it by
	 */
	record Target(TransactionGuard guard, Lease lease, Fence fence) {

	}

}
