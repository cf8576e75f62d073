package io.mutex.jdbc;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;

/**
 * What kind of failure a database reported.
 */
enum Failure {

	/** Nothing was changed, and the same may be tried again at once. */
	TRANSIENT,

	/** Nothing was changed, since another transaction kept a row locked. */
	LOCK_TIMEOUT,

	/** A row of that key is there already. */
	DUPLICATE,

	/** A table or a column is not there. */
	MISSING_TABLE,

	/** The user may not use the table. */
	DENIED,

	/** The database takes no writes. */
	READ_ONLY,

	/** No connection became free in time. */
	NO_CONNECTION,

	/** Anything else; the outcome may be unknown. */
	OTHER;

	static Failure of(SQLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException sqlException) {
				Failure failure = ofSingle(sqlException);
				if (failure != OTHER) {
					return failure;
				}
			}
		}
		return OTHER;
	}

	private static Failure ofSingle(SQLException ex) {
		Failure failure = ofErrorCode(ex.getErrorCode());
		if (failure == OTHER && ex.getSQLState() != null) {
			failure = ofState(ex.getSQLState());
		}
		return (failure == OTHER && ex instanceof SQLTransientConnectionException) ? NO_CONNECTION : failure;
	}

	// the codes of MySQL and MariaDB have four digits, those of H2 five, PostgreSQL has
	// none
	private static Failure ofErrorCode(int code) {
		return switch (code) {
			case 1020, 1213, 90131 -> TRANSIENT;
			case 1205, 3572, 50200 -> LOCK_TIMEOUT;
			case 1062, 23505 -> DUPLICATE;
			case 1146, 1054, 42102, 42103, 42104, 42122, 90079 -> MISSING_TABLE;
			case 1044, 1142, 1143, 90096 -> DENIED;
			case 1290, 1792, 1836, 90097 -> READ_ONLY;
			default -> OTHER;
		};
	}

	private static Failure ofState(String state) {
		return switch (state) {
			case "40001", "40P01" -> TRANSIENT;
			case "55P03" -> LOCK_TIMEOUT;
			case "23505" -> DUPLICATE;
			case "42P01", "42703", "3F000", "42S02", "42S22" -> MISSING_TABLE;
			case "42501" -> DENIED;
			case "25006" -> READ_ONLY;
			default -> OTHER;
		};
	}

}
