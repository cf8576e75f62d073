package io.mutex.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import io.mutex.MutexException;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The isolation level of transactions. The one that connections have by default is asked
 * for once.
 */
final class Isolation {

	static final String LEVEL = "Set isolation = Isolation.READ_COMMITTED at @Transactional";

	static final String REMEDY = LEVEL + ", or call the transactional method from a @SingleRun method that is not "
			+ "transactional, whose record is written after the commit";

	private final Map<DataSource, Integer> standards = new ConcurrentHashMap<>();

	/**
	 * The isolation level of this thread's transaction.
	 * @param key the key of the call, for messages
	 * @param dataSource the data source
	 * @param connection the connection of the transaction
	 * @return the level, as {@link java.sql.Connection} numbers it
	 * @throws MutexException if the connection does not know
	 */
	int current(String key, DataSource dataSource, ConnectionHolder connection) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			return level(key, connection); // one may have been declared
		}
		Integer declared = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		return (declared != null) ? declared : standard(key, dataSource, connection);
	}

	/**
	 * The isolation level of transactions for which none is declared.
	 * @param key the key of the call, for messages
	 * @param dataSource the data source
	 * @param connection the connection of such a transaction
	 * @return the level, as {@link java.sql.Connection} numbers it
	 * @throws MutexException if the connection does not know
	 */
	int standard(String key, DataSource dataSource, ConnectionHolder connection) {
		Integer known = this.standards.get(dataSource);
		if (known == null) {
			known = level(key, connection);
			this.standards.put(dataSource, known);
		}
		return known;
	}

	private static int level(String key, ConnectionHolder connection) {
		try {
			return connection.getConnection().getTransactionIsolation();
		}
		catch (SQLException ex) {
			throw new MutexException(key, "the isolation of the transaction of key '" + key
					+ "' is not known; the work was not run: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Refuses a transaction whose view of the data may be older than the grant of a key.
	 * @param key the key
	 * @param dataSource the data source
	 * @param connection the connection of the transaction
	 * @throws MutexException if it is such a transaction
	 */
	void requireFreshReads(String key, DataSource dataSource, ConnectionHolder connection) {
		if (current(key, dataSource, connection) <= Connection.TRANSACTION_READ_COMMITTED) {
			return;
		}
		boolean declared = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel() != null;
		throw new MutexException(key, "key '" + key + "' was asked for inside a transaction whose isolation is "
				+ "above READ COMMITTED" + (declared ? "" : " (the default of this database)")
				+ ": what it reads may be older than the grant of the key. Set isolation = Isolation.READ_COMMITTED "
				+ "where that transaction begins, or propagation = Propagation.REQUIRES_NEW at the called method; "
				+ "the work was not run");
	}

	/**
	 * Says why a level does not do.
	 * @param level the name of the level
	 * @return the reason, without a full stop
	 */
	static String problem(String level) {
		return "its run is recorded in its transaction, and " + atLevel(level);
	}

	/**
	 * Says why a level does not do for work that is to be confirmed.
	 * @param level the name of the level
	 * @return the reason, without a full stop
	 */
	static String unconfirmable(String level) {
		return "its lease is confirmed in its transaction, and " + atLevel(level);
	}

	private static String atLevel(String level) {
		return "at isolation " + level + " this database rolls that back whenever the lease was renewed meanwhile";
	}

}
