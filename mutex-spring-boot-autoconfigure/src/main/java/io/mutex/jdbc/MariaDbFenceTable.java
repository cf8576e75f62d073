package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import io.mutex.Fence;
import org.jspecify.annotations.Nullable;

/**
 * The registration of MariaDB in one statement, which also answers with what was accepted
 * instead. The assignments are done from left to right on the locked row, so each one
 * compares what those before it have not changed.
 */
final class MariaDbFenceTable extends FenceTable {

	private static final String ADMITTED = "lock_key = VALUES(lock_key) AND (token < VALUES(token)"
			+ " OR token = VALUES(token) AND nonce = VALUES(nonce))";

	private static final String UPSERT = "INSERT INTO @@fence@@ (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, 1, @@now@@)"
			+ " ON DUPLICATE KEY UPDATE version = IF(" + ADMITTED + ", version + 1, version)," + " changed_at = IF("
			+ ADMITTED + ", VALUES(changed_at), changed_at), nonce = IF(" + ADMITTED + ", VALUES(nonce), nonce),"
			+ " token = IF(lock_key = VALUES(lock_key), GREATEST(token, VALUES(token)), token)"
			+ " RETURNING token, nonce, ";

	private final String upsert;

	// without the look at the locks, which would lock them above READ COMMITTED
	private final String upsertIn;

	MariaDbFenceTable(JdbcSettings settings, String namespace, boolean besideLocks) {
		super(JdbcPlatform.MARIADB, settings, namespace, besideLocks);
		Sql sql = new Sql(JdbcPlatform.MARIADB, settings);
		this.upsert = sql.text(UPSERT + key(besideLocks, "@@fence@@"));
		this.upsertIn = sql.text(UPSERT + key(false, "@@fence@@"));
	}

	@Override
	@Nullable Accepted tryRegister(Connection connection, Fence fence) throws SQLException {
		return upsert(connection, this.upsert, fence);
	}

	@Override
	@Nullable Accepted tryRegisterIn(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		return upsert(connection, this.upsertIn, fence);
	}

	private @Nullable Accepted upsert(Connection connection, String sql, Fence fence) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			bindRow(new Binder(statement), fence);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? new Accepted(rows.getString(3), rows.getLong(1), rows.getString(2)) : null;
			}
		}
	}

}
