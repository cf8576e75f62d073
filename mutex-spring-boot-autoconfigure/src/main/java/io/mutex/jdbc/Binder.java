package io.mutex.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * Sets the parameters of a statement one after the other.
 */
final class Binder {

	private static final int MAX_NAME = 500;

	private static final int MAX_ERROR = 500;

	private final PreparedStatement statement;

	private int index;

	Binder(PreparedStatement statement) {
		this.statement = statement;
	}

	Binder text(@Nullable String value) throws SQLException {
		this.statement.setString(++this.index, value);
		return this;
	}

	Binder texts(String... values) throws SQLException {
		for (String value : values) {
			text(value);
		}
		return this;
	}

	Binder number(long value) throws SQLException {
		this.statement.setLong(++this.index, value);
		return this;
	}

	Binder name(String name) throws SQLException {
		return text(fit(name, MAX_NAME));
	}

	Binder error(@Nullable String error) throws SQLException {
		return text((error != null) ? fit(error, MAX_ERROR) : null);
	}

	Binder lock(LockRow row) throws SQLException {
		return number(row.version()).number(row.token())
			.text(row.nonce())
			.name(row.name())
			.text(row.owner().toText())
			.text(row.unit())
			.number(row.attempt())
			.number(row.acquiredAt())
			.number(row.expiresAt())
			.text(row.tombstones())
			.number(row.buriedAt())
			.number(row.keptUntil())
			.number(row.sharedUntil())
			.text(row.place().waiter())
			.number(row.place().until());
	}

	Binder run(RunRow row) throws SQLException {
		return text(row.unit()).text(row.statusCode())
			.number(row.token())
			.text(row.nonce())
			.text(row.owner().toText())
			.number(row.attempt())
			.number(row.began())
			.number(row.ended())
			.number(row.notBefore())
			.error(row.error())
			.number(row.keptUntil());
	}

	// no database takes more than the column holds, and PostgreSQL takes no NUL
	private static String fit(String text, int length) {
		String fitting = text.replace('\0', ' ');
		if (fitting.length() <= length) {
			return fitting;
		}
		int end = Character.isHighSurrogate(fitting.charAt(length - 1)) ? length - 1 : length;
		return fitting.substring(0, end);
	}

}
