package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.mutex.LockProvider.Grant;
import org.jspecify.annotations.Nullable;

/**
 * Records a success and releases its key on a connection of the application, inside its
 * transaction.
 * <p>
 * The update of the lock row is the check: it finds the row only while the grant owns it,
 * and keeps every other writer of the row waiting until the transaction has ended. To
 * read or only to lock the row would let a successor in that was granted the key before.
 */
class TransactionalCompletion {

	private static final String UPDATE = "UPDATE @@lock@@ SET version = version + 1, expires_at = 0"
			+ " WHERE namespace = ? AND lock_key = ? AND slot = 0 AND nonce = ? AND token = ? AND unit = ?"
			+ " AND expires_at > 0";

	private static final String MERGE = "MERGE INTO @@run@@ (namespace, lock_key, unit, status, token, nonce, owner_info,"
			+ " attempt, began_at, ended_at, not_before, error, kept_until) KEY (namespace, lock_key, unit)"
			+ " SELECT namespace, lock_key, unit, 'D', token, nonce, owner_info, attempt, acquired_at, @@now@@, 0, NULL,"
			+ " kept_until FROM @@lock@@ WHERE namespace = ? AND lock_key = ? AND slot = 0";

	private final String namespace;

	private final TransactionLimits limits;

	private final TransactionUpdate update;

	private final String record;

	TransactionalCompletion(JdbcPlatform platform, JdbcSettings settings, String namespace, String record) {
		this.namespace = namespace;
		this.limits = new TransactionLimits(platform, settings);
		this.update = new TransactionUpdate(platform, settings, UPDATE);
		this.record = new Sql(platform, settings).text(record);
	}

	static TransactionalCompletion of(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		return switch (platform) {
			case H2 -> new TransactionalCompletion(platform, settings, namespace, MERGE);
			case POSTGRESQL -> new Postgres(settings, namespace);
			case MARIADB, MYSQL -> new InnoDb(platform, settings, namespace);
		};
	}

	final String namespace() {
		return this.namespace;
	}

	// whether an update fails for good once another has changed the row since the
	// snapshot of the transaction
	boolean keepsSnapshot(Connection connection) throws SQLException {
		return true;
	}

	boolean complete(Connection connection, Grant grant, String unit, Duration remaining) throws SQLException {
		if (!this.update.run(connection, remaining,
				(binder) -> binder.texts(this.namespace, grant.key(), grant.nonce())
					.number(grant.token())
					.text(unit))) {
			return false;
		}
		try (PreparedStatement statement = connection.prepareStatement(this.record)) {
			bindRecord(new Binder(statement), grant, unit);
			statement.executeUpdate();
		}
		return true;
	}

	void bindRecord(Binder binder, Grant grant, String unit) throws SQLException {
		binder.texts(this.namespace, grant.key());
	}

	// takes back what the session was told
	final void restore(Connection connection) {
		this.limits.restore(connection);
	}

	/**
	 * One statement, which also tells the server to end the transaction if it stays idle.
	 */
	private static final class Postgres extends TransactionalCompletion {

		private final String settle;

		Postgres(JdbcSettings settings, String namespace) {
			super(JdbcPlatform.POSTGRESQL, settings, namespace, "");
			this.settle = new Sql(JdbcPlatform.POSTGRESQL, settings).text(PostgresFastPath.SETTLE
				.replace(PostgresFastPath.DURABLE, PostgresFastPath.DURABLE + ", " + TransactionLimits.POSTGRES_IDLE));
		}

		@Override
		boolean complete(Connection connection, Grant grant, String unit, Duration remaining) throws SQLException {
			try (PreparedStatement statement = connection.prepareStatement(this.settle)) {
				new Binder(statement).texts(namespace(), grant.key(), grant.nonce())
					.number(grant.token())
					.text(unit)
					.number(TransactionLimits.idleMillis(remaining))
					.text("D")
					.number(-1)
					.number(-1)
					.error(null);
				return statement.executeUpdate() == 1;
			}
		}

	}

	/**
	 * MariaDB and MySQL.
	 */
	private static final class InnoDb extends TransactionalCompletion {

		private static final int SELECTED_COLUMNS = 4;

		private static final String OF_LOCK = " FROM @@lock@@ WHERE namespace = ? AND lock_key = ? AND slot = 0)";

		// not INSERT ... SELECT, after which MariaDB flushes a data file
		private static final String INSERT = "INSERT INTO @@run@@ (namespace, lock_key, unit, status, token, nonce,"
				+ " owner_info, attempt, began_at, ended_at, not_before, error, kept_until) VALUES (?, ?, ?, 'D', ?, ?,"
				+ " (SELECT owner_info" + OF_LOCK + ", (SELECT attempt" + OF_LOCK + ", (SELECT acquired_at" + OF_LOCK
				+ ", @@now@@, 0, NULL, (SELECT kept_until" + OF_LOCK
				+ ") ON DUPLICATE KEY UPDATE status = VALUES(status), token = VALUES(token),"
				+ " nonce = VALUES(nonce), owner_info = VALUES(owner_info), attempt = VALUES(attempt),"
				+ " began_at = VALUES(began_at), ended_at = VALUES(ended_at), not_before = VALUES(not_before),"
				+ " error = VALUES(error), kept_until = VALUES(kept_until)";

		private volatile @Nullable Boolean snapshots;

		InnoDb(JdbcPlatform platform, JdbcSettings settings, String namespace) {
			super(platform, settings, namespace, INSERT);
		}

		@Override
		void bindRecord(Binder binder, Grant grant, String unit) throws SQLException {
			binder.texts(namespace(), grant.key(), unit).number(grant.token()).text(grant.nonce());
			for (int column = 0; column < SELECTED_COLUMNS; column++) {
				binder.texts(namespace(), grant.key());
			}
		}

		// an update reads the latest row, unless the server has been told otherwise
		@Override
		boolean keepsSnapshot(Connection connection) throws SQLException {
			Boolean known = this.snapshots;
			if (known == null) {
				try (Statement statement = connection.createStatement();
						ResultSet rows = statement.executeQuery("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'")) {
					known = rows.next() && "ON".equalsIgnoreCase(rows.getString(2));
				}
				this.snapshots = known;
			}
			return known;
		}

	}

}
