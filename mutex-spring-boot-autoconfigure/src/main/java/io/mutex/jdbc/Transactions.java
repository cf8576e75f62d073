package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Short transactions on a connection in auto-commit mode.
 */
final class Transactions {

	private Transactions() {
	}

	static <T> T run(Connection connection, Work<T> work) throws SQLException {
		connection.setAutoCommit(false);
		T result;
		try {
			result = work.call();
			connection.commit();
		}
		catch (SQLException | RuntimeException ex) {
			undo(connection, ex);
			throw ex;
		}
		connection.setAutoCommit(true);
		return result;
	}

	private static void undo(Connection connection, Exception ex) {
		try {
			connection.rollback();
			connection.setAutoCommit(true);
		}
		catch (SQLException further) {
			ex.addSuppressed(further);
		}
	}

	@FunctionalInterface
	interface Work<T> {

		T call() throws SQLException;

	}

}
