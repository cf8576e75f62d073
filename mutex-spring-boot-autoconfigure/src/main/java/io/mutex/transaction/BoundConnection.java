package io.mutex.transaction;

import java.util.Map;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The connection that a transaction of this thread commits.
 *
 * @param dataSource the data source that it comes from
 * @param holder what holds it
 */
record BoundConnection(DataSource dataSource, ConnectionHolder holder) {

	/**
	 * Looks for the connection of a transaction that is not suspended.
	 * @param transaction the transaction
	 * @return the connection, or {@code null} if it has none of JDBC
	 */
	static @Nullable BoundConnection of(TransactionExecution transaction) {
		if (!(transaction instanceof DefaultTransactionStatus status) || !status.hasTransaction()
				|| !(status.getTransaction() instanceof JdbcTransactionObjectSupport object)
				|| !object.hasConnectionHolder()) {
			return null;
		}
		ConnectionHolder holder = object.getConnectionHolder();
		for (Map.Entry<Object, Object> resource : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			if (resource.getValue() == holder && resource.getKey() instanceof DataSource dataSource) {
				return new BoundConnection(dataSource, holder);
			}
		}
		return null;
	}

}
