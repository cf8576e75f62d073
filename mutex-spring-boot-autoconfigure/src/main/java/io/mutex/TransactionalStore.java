package io.mutex;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.mutex.LockProvider.Grant;
import org.jspecify.annotations.Nullable;

/**
 * A store in a database that can record a success as a part of the application's own
 * transaction on that database, so that the record and the work become true together.
 */
public interface TransactionalStore {

	/**
	 * The database that keeps the locks.
	 * @return the data source that the store was made for
	 */
	DataSource dataSource();

	/**
	 * Whether a transaction of that isolation could record a run that is longer than its
	 * lease: a renewal writes the row of the lock, and some databases refuse to change a
	 * row that is newer than the transaction's snapshot.
	 * @param isolation the level, as {@link Connection} numbers it
	 * @return {@code null} if it can, else the name of the isolation level that cannot
	 * @throws MutexException if the database has to be asked and cannot be
	 */
	@Nullable String unfitIsolation(int isolation);

	/**
	 * Records the success of a unit and frees the key as a part of the transaction of the
	 * connection, only while the grant owns the key. The rows stay locked until the
	 * transaction ends, and the database ends it by itself if nothing is heard of it for
	 * the time that is left, where it can.
	 * @param connection the connection of the transaction, which is neither committed nor
	 * rolled back
	 * @param grant the grant
	 * @param unit the unit of the grant
	 * @param remaining how long the lease lasts
	 * @return {@code false} if the grant does not own the key, so that the transaction
	 * must be rolled back
	 * @throws SQLException if the database refused, so that the transaction must be
	 * rolled back
	 */
	boolean complete(Connection connection, Grant grant, String unit, Duration remaining) throws SQLException;

	/**
	 * Takes back what {@link #complete} has set for the session of the connection. Called
	 * when the transaction has ended and before the connection is used for another.
	 * @param connection the same connection
	 */
	void restore(Connection connection);

}
