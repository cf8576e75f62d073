package io.mutex.transaction;

import java.util.List;

import io.mutex.Lease;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A lease that a transaction has to have confirmed, even if its call has returned by
 * then: the one under which it began, or one that another transaction decides about.
 *
 * @param lease the lease
 */
record TiedLease(Lease lease) implements TransactionSynchronization {

	/**
	 * Ties a lease to the current transaction of this thread.
	 * @param lease the lease
	 */
	static void tie(Lease lease) {
		TransactionSynchronizationManager.registerSynchronization(new TiedLease(lease));
	}

	/**
	 * The leases that are tied to the current transaction of this thread.
	 * @return the leases
	 */
	static List<Lease> current() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.filter(TiedLease.class::isInstance)
					.map((tied) -> ((TiedLease) tied).lease())
					.toList()
				: List.of();
	}

}
