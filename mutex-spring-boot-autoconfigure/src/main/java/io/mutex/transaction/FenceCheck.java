package io.mutex.transaction;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.MutexException;
import io.mutex.fence.TransactionGuard;
import io.mutex.transaction.Confirmation.Target;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Knows which guards have to confirm the leases of a call before what it wrote to a
 * database is committed, and under which conditions they can.
 */
public final class FenceCheck {

	private static final String ANY = "any";

	private final Supplier<List<TransactionGuard>> guards;

	private final Consumer<Lease> committing;

	private final Isolation isolation = new Isolation();

	/**
	 * Creates a check that tells nobody else.
	 * @param guards gives the guards of all databases, asked for when there is a lease
	 */
	public FenceCheck(Supplier<List<TransactionGuard>> guards) {
		this(guards, (lease) -> {
		});
	}

	/**
	 * Creates the check.
	 * @param guards gives the guards of all databases, asked for when there is a lease
	 * @param committing told of each lease before it is confirmed
	 */
	public FenceCheck(Supplier<List<TransactionGuard>> guards, Consumer<Lease> committing) {
		this.guards = guards;
		this.committing = committing;
	}

	/**
	 * The leases that a guard checks.
	 * @param leases the leases of a call
	 * @return those that have a fence
	 */
	static List<Lease> fenced(Collection<Lease> leases) {
		return leases.stream().filter((lease) -> !lease.fences().isEmpty()).toList();
	}

	Isolation isolation() {
		return this.isolation;
	}

	boolean isGuarded(DataSource dataSource) {
		return this.guards.get().stream().anyMatch((guard) -> DataSources.isSame(guard.dataSource(), dataSource));
	}

	/**
	 * What a transaction of Spring has to have confirmed before its commit.
	 * @param connection its connection
	 * @param leases the leases under which it worked
	 * @return what is to be confirmed, or {@code null} if there is nothing
	 * @throws MutexException if the isolation of the transaction forbids it
	 */
	@Nullable Confirmation confirmation(BoundConnection connection, Collection<Lease> leases) {
		List<Target> targets = targets(connection.dataSource(), leases);
		if (targets.isEmpty()) {
			return null;
		}
		for (Target target : targets) {
			requireFit(connection, target);
		}
		if (!TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			requireNoSnapshotBeside(connection.dataSource(), targets.get(0).lease().key());
		}
		return new Confirmation(connection.holder().getConnection(), targets, this.committing);
	}

	/**
	 * What has to be confirmed on a connection that no transaction of Spring manages.
	 * @param dataSource where it comes from
	 * @param connection the connection
	 * @param leases the leases under which it is used
	 * @return what is to be confirmed, or {@code null} if there is nothing
	 * @throws MutexException if another transaction of the thread forbids it
	 */
	@Nullable Confirmation confirmation(DataSource dataSource, Connection connection, Collection<Lease> leases) {
		List<Target> targets = targets(dataSource, leases);
		if (targets.isEmpty()) {
			return null;
		}
		requireNoSnapshotBeside(dataSource, targets.get(0).lease().key());
		return new Confirmation(connection, targets, this.committing);
	}

	private List<Target> targets(DataSource dataSource, Collection<Lease> leases) {
		List<Lease> fenced = fenced(leases);
		if (fenced.isEmpty()) {
			return List.of();
		}
		Set<Target> targets = new LinkedHashSet<>();
		for (TransactionGuard guard : this.guards.get()) {
			if (DataSources.isSame(guard.dataSource(), dataSource)) {
				fenced.forEach(
						(lease) -> lease.fences().forEach((fence) -> targets.add(new Target(guard, lease, fence))));
			}
		}
		List<Target> ordered = new ArrayList<>(targets);
		ordered.sort(Comparator.comparing((target) -> target.fence().resource()));
		return ordered;
	}

	/**
	 * Refuses work in a transaction that could not be confirmed in the end.
	 * @param connection the connection of the transaction
	 * @param leases the leases under which it is going to work
	 * @throws io.mutex.LeaseLostException if one of the leases is lost
	 * @throws MutexException if the isolation of the transaction forbids it
	 */
	void requireFit(BoundConnection connection, Collection<Lease> leases) {
		for (Target target : targets(connection.dataSource(), leases)) {
			target.lease().assertValid();
			requireFit(connection, target);
		}
	}

	private void requireFit(BoundConnection connection, Target target) {
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			return;
		}
		String key = target.lease().key();
		int level = this.isolation.current(key, connection.dataSource(), connection.holder());
		String unfit = target.guard().unfitIsolation(target.fence(), level);
		if (unfit != null) {
			throw new MutexException(key, "key '" + key + "': " + Isolation.unconfirmable(unfit) + ". "
					+ Isolation.LEVEL + "; the transaction is rolled back");
		}
	}

	/**
	 * Whether transactions of an isolation level could not be confirmed for the resource
	 * named like the key.
	 * @param dataSource the database
	 * @param isolation the level, as {@link Connection} numbers it
	 * @return {@code null} if they could, else the name of the level
	 */
	@Nullable String unfitIsolation(DataSource dataSource, int isolation) {
		Fence fence = new Fence(ANY, ANY, new FencingToken(1), ANY, true);
		return this.guards.get()
			.stream()
			.filter((guard) -> DataSources.isSame(guard.dataSource(), dataSource))
			.map((guard) -> guard.unfitIsolation(fence, isolation))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Refuses a call that takes part in a transaction whose view of a guarded database
	 * may be older than the grant of its key.
	 * @param key the key
	 * @throws MutexException if the current transaction of this thread is one
	 */
	void requireFreshReads(String key) {
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			return;
		}
		for (TransactionGuard guard : this.guards.get()) {
			ConnectionHolder connection = DataSources.current(guard.dataSource());
			if (connection != null && DataSources.isTransactional(connection)) {
				this.isolation.requireFreshReads(key, guard.dataSource(), connection);
			}
		}
	}

	/**
	 * Refuses a call inside a transaction that tells nobody of its end, and so would be
	 * committed without a check after the key was released.
	 * @param key the key
	 * @throws MutexException if this thread has such a transaction
	 */
	void requireNoSilentTransaction(String key) {
		for (TransactionGuard guard : this.guards.get()) {
			ConnectionHolder connection = DataSources.current(guard.dataSource());
			if (connection != null && DataSources.isTransactional(connection)) {
				throw new MutexException(key, "key '" + key + "' was asked for inside a transaction without "
						+ "synchronization, which could be committed after the key was released and then by nobody "
						+ "be checked. Set transactionSynchronization of its manager to ON_ACTUAL_TRANSACTION, or "
						+ "begin it inside the call; the work was not run");
			}
		}
	}

	/**
	 * Refuses a confirmation beside an open transaction of the same thread that has to be
	 * confirmed later: it would change what that one has a snapshot of.
	 * @param dataSource the database
	 * @param key the key, for messages
	 * @throws MutexException if there is such a transaction
	 */
	void requireNoSnapshotBeside(DataSource dataSource, String key) {
		for (OpenTransaction open : OpenTransaction.suspended()) {
			if (DataSources.isSame(open.connection().dataSource(), dataSource)
					&& open.level(this.isolation, key) > Connection.TRANSACTION_READ_COMMITTED) {
				throw new MutexException(key, "key '" + key + "': a transaction inside the call would be confirmed "
						+ "beside an outer one whose isolation is above READ COMMITTED, and then the outer one could "
						+ "not be: its snapshot is older. Set isolation = Isolation.READ_COMMITTED where the "
						+ "outer one begins");
			}
		}
	}

}
