package io.mutex.transaction;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that the advice of a method has begun for its call.
 *
 * @param status its status
 * @param connection its connection
 */
record OwnTransaction(DefaultTransactionStatus status, ConnectionHolder connection) {

	/**
	 * Looks for the transaction, right inside the advice.
	 * @param dataSource the database that it has to be on
	 * @return the transaction, or {@code null} if there is none, if it is not new, is
	 * read-only or is on another database
	 */
	static @Nullable OwnTransaction on(DataSource dataSource) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			return null;
		}
		ConnectionHolder connection = DataSources.current(dataSource);
		DefaultTransactionStatus status = innermost();
		if (connection == null || status == null || !status.isNewTransaction()) {
			return null;
		}
		// a connection may also be bound that another transaction does not commit
		boolean managed = status.getTransaction() instanceof JdbcTransactionObjectSupport transaction
				&& transaction.hasConnectionHolder() && transaction.getConnectionHolder() == connection;
		return managed ? new OwnTransaction(status, connection) : null;
	}

	private static @Nullable DefaultTransactionStatus innermost() {
		try {
			return (TransactionAspectSupport.currentTransactionStatus() instanceof DefaultTransactionStatus status)
					? status : null;
		}
		catch (NoTransactionException ex) {
			return null;
		}
	}

}
