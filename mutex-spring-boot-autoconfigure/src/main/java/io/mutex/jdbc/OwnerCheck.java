package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import io.mutex.Fence;
import org.jspecify.annotations.Nullable;

/**
 * Confirms inside a transaction of the application that a grant owns its lock row.
 * <p>
 * The update is the check: it finds the row only while the grant owns it, and keeps every
 * other writer of the row waiting until the transaction has ended, who then sees another
 * version of it. To read or only to lock the row would let a successor in that was
 * granted the key before.
 */
final class OwnerCheck {

	private static final String UPDATE = "UPDATE @@lock@@ SET version = version + 1 WHERE namespace = ?"
			+ " AND lock_key = ? AND slot = 0 AND nonce = ? AND token = ? AND expires_at > 0";

	private static final String ACCEPTED = "SELECT token FROM @@lock@@ WHERE namespace = ? AND lock_key = ?"
			+ " AND slot = 0";

	private final String namespace;

	private final TransactionUpdate update;

	private final String accepted;

	OwnerCheck(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		this.update = new TransactionUpdate(platform, settings, UPDATE);
		this.accepted = new Sql(platform, settings).text(ACCEPTED);
	}

	boolean confirm(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		return this.update.run(connection, remaining,
				(binder) -> binder.texts(this.namespace, fence.key(), fence.nonce()).number(fence.token().value()));
	}

	// the latest token of the key, or 0 if its row is gone
	long latest(Connection connection, String key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.accepted)) {
			new Binder(statement).texts(this.namespace, key);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? rows.getLong(1) : 0;
			}
		}
	}

}
