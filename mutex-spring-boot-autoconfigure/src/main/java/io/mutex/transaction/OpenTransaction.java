package io.mutex.transaction;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction that has to be confirmed before its commit, as those see it that are
 * begun while it is suspended.
 */
final class OpenTransaction implements TransactionSynchronization {

	private static final ThreadLocal<List<OpenTransaction>> SUSPENDED = ThreadLocal.withInitial(ArrayList::new);

	private final BoundConnection connection;

	private final @Nullable Integer declaredLevel;

	private OpenTransaction(BoundConnection connection, @Nullable Integer declaredLevel) {
		this.connection = connection;
		this.declaredLevel = declaredLevel;
	}

	/**
	 * Notes the transaction of this thread.
	 * @param connection its connection, or {@code null} if it has none of JDBC
	 */
	static void register(@Nullable BoundConnection connection) {
		if (connection != null && TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new OpenTransaction(connection,
					TransactionSynchronizationManager.getCurrentTransactionIsolationLevel()));
		}
	}

	/**
	 * The transactions that this thread has suspended.
	 * @return the transactions, the outermost first
	 */
	static List<OpenTransaction> suspended() {
		return SUSPENDED.get();
	}

	BoundConnection connection() {
		return this.connection;
	}

	int level(Isolation isolation, String key) {
		return (this.declaredLevel != null) ? this.declaredLevel
				: isolation.standard(key, this.connection.dataSource(), this.connection.holder());
	}

	@Override
	public void suspend() {
		SUSPENDED.get().add(this);
	}

	@Override
	public void resume() {
		List<OpenTransaction> suspended = SUSPENDED.get();
		suspended.remove(this);
		if (suspended.isEmpty()) {
			SUSPENDED.remove();
		}
	}

}
