package io.mutex.fence;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.mutex.Fence;
import org.jspecify.annotations.Nullable;

/**
 * A guard in a database, which is asked inside the application's own transactions on it,
 * as their last statement before the commit.
 */
public interface TransactionGuard extends FenceGuard {

	/**
	 * The guarded database.
	 * @return the data source that the guard was made for
	 */
	DataSource dataSource();

	/**
	 * Whether transactions of an isolation level could be refused for no fault of theirs:
	 * what the guard changes beside them may be newer than their snapshot.
	 * @param fence what they have to confirm
	 * @param isolation the level, as {@link Connection} numbers it
	 * @return {@code null} if they fit, else the name of the level that does not
	 * @throws io.mutex.MutexException if the database has to be asked and cannot be
	 */
	@Nullable String unfitIsolation(Fence fence, int isolation);

	/**
	 * Confirms by an update, as a part of the transaction of the connection, that a grant
	 * is the latest of its resource. The row of the guard stays locked until the
	 * transaction ends, and the database ends it by itself if nothing is heard of it for
	 * the time that is left, where it can.
	 * @param connection the connection of the transaction, which is neither committed nor
	 * rolled back
	 * @param fence the grant and the resource
	 * @param remaining how long the lease lasts, or {@code null} if it has no deadline
	 * @throws io.mutex.StaleFencingTokenException if it is not, so that the transaction
	 * must be rolled back
	 * @throws io.mutex.MutexException if the resource belongs to another key, so that the
	 * transaction must be rolled back
	 * @throws SQLException if the database refused, so that the transaction must be
	 * rolled back
	 */
	void confirm(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException;

	/**
	 * Takes back what {@link #confirm} has set for the session of the connection. Called
	 * when the transaction has ended and before the connection is used for another.
	 * @param connection the same connection
	 */
	void restore(Connection connection);

}
