package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import io.mutex.Fence;
import org.jspecify.annotations.Nullable;

/**
 * The registration of PostgreSQL in one statement. A locked row is waited for, and is
 * compared as it is then.
 */
final class PostgresFenceTable extends FenceTable {

	private static final String UPSERT = "INSERT INTO @@fence@@ AS f (" + COLUMNS + ") SELECT ?, ?, ?, ?, ?, 1, @@now@@"
			+ " WHERE " + PostgresFastPath.LOCK_TIMEOUT + " IS NOT NULL ON CONFLICT (namespace, resource) DO UPDATE"
			+ " SET token = excluded.token, nonce = excluded.nonce, version = f.version + 1, changed_at = @@now@@"
			+ " WHERE f.lock_key = excluded.lock_key AND (f.token < excluded.token"
			+ " OR f.token = excluded.token AND f.nonce = excluded.nonce) RETURNING @@key@@, token, nonce, ";

	private final String durable;

	private final String limited;

	PostgresFenceTable(JdbcSettings settings, String namespace, boolean besideLocks) {
		super(JdbcPlatform.POSTGRESQL, settings, namespace, besideLocks);
		Sql sql = new Sql(JdbcPlatform.POSTGRESQL, settings);
		this.durable = sql.text(UPSERT.replace("@@key@@", key(besideLocks, "f")) + PostgresFastPath.DURABLE);
		this.limited = sql.text(UPSERT.replace("@@key@@", key(besideLocks, "f")) + TransactionLimits.POSTGRES_IDLE);
	}

	@Override
	String raiseText() {
		return super.raiseText() + " AND " + PostgresFastPath.LOCK_TIMEOUT + " IS NOT NULL RETURNING "
				+ PostgresFastPath.DURABLE;
	}

	@Override
	@Nullable Accepted tryRegister(Connection connection, Fence fence) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.durable)) {
			bindRow(new Binder(statement), fence);
			return first(statement);
		}
	}

	@Override
	@Nullable Accepted tryRegisterIn(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.limited)) {
			bindRow(new Binder(statement), fence).number(TransactionLimits.idleMillis(remaining));
			return first(statement);
		}
	}

	private static @Nullable Accepted first(PreparedStatement statement) throws SQLException {
		try (ResultSet rows = statement.executeQuery()) {
			return rows.next() ? accepted(rows) : null;
		}
	}

}
