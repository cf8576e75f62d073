package io.mutex.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.Place;
import io.mutex.protocol.RunRow;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * The columns of the tables, and how rows are read from them.
 */
final class Rows {

	static final String LOCK_COLUMNS = "version, token, nonce, lock_name, owner_info, unit, attempt, acquired_at,"
			+ " expires_at, tombstones, buried_at, kept_until, shared_until, waiter, waiter_until";

	static final String RUN_COLUMNS = "unit, status, token, nonce, owner_info, attempt, began_at, ended_at,"
			+ " not_before, error, kept_until";

	/**
	 * The number of {@link #LOCK_COLUMNS}.
	 */
	static final int LOCK_WIDTH = 15;

	/**
	 * The number of {@link #RUN_COLUMNS}.
	 */
	static final int RUN_WIDTH = 11;

	private Rows() {
	}

	// columns with a qualifier before each, for example {@code l.version, l.token}
	static String qualified(String qualifier, String columns) {
		return qualifier + "." + columns.replace(", ", ", " + qualifier + ".");
	}

	static @Nullable LockRow lock(ResultSet rows, int first) throws SQLException {
		String nonce = rows.getString(first + 2);
		if (nonce == null) {
			return null;
		}
		return new LockRow(rows.getLong(first), rows.getLong(first + 1), nonce, text(rows, first + 3),
				Owner.parse(text(rows, first + 4)), rows.getString(first + 5), rows.getInt(first + 6),
				rows.getLong(first + 7), rows.getLong(first + 8), text(rows, first + 9), rows.getLong(first + 10),
				rows.getLong(first + 11), rows.getLong(first + 12), place(rows, first + 13));
	}

	private static Place place(ResultSet rows, int first) throws SQLException {
		long until = rows.getLong(first + 1);
		return (until != 0) ? new Place(text(rows, first), until) : Place.EMPTY;
	}

	static @Nullable RunRow run(ResultSet rows, int first) throws SQLException {
		String unit = rows.getString(first);
		if (unit == null) {
			return null;
		}
		return new RunRow(unit, RunRow.statusOf(text(rows, first + 1)), rows.getLong(first + 2), text(rows, first + 3),
				Owner.parse(text(rows, first + 4)), rows.getInt(first + 5), rows.getLong(first + 6),
				rows.getLong(first + 7), rows.getLong(first + 8), rows.getString(first + 9), rows.getLong(first + 10));
	}

	// some databases keep an empty text as null
	private static String text(ResultSet rows, int column) throws SQLException {
		String text = rows.getString(column);
		return (text != null) ? text : "";
	}

}
