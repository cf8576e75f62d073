package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * Acquisition and settlement of MariaDB in one round trip each. Nothing is inserted from
 * a query: after each such statement the server flushes a data file.
 * <p>
 * The assignments of an upsert are done from left to right on the locked row, so the
 * first one decides and marks the row by a negative version, the others look at the mark,
 * and the last one removes it. A sub-select that is correlated with the row reads
 * committed data after the row is locked.
 */
final class MariaDbFastPath extends FastPath {

	// the answer to the null slot of a grant that may not be
	private static final int NULL_REFUSED = 1048;

	// correlated on purpose: a sub-select of parameters alone is evaluated before the row
	// is locked,
	// and then a unit runs twice
	private static final String OF_ROW = "r.namespace = @@lock@@.namespace AND r.lock_key = @@lock@@.lock_key"
			+ " AND r.unit = ?";

	// not the run row's columns one by one: each would be a look-up of its own
	private static final String PACKED_RUN = "(SELECT CONCAT_WS(CHAR(31), r.status, r.token, r.nonce, r.owner_info,"
			+ " r.attempt, r.began_at, r.ended_at, r.not_before, r.kept_until, COALESCE(r.error, ''))"
			+ " FROM @@run@@ r WHERE " + OF_ROW + ")";

	private static final String SETTLE = "BEGIN NOT ATOMIC DECLARE released INT DEFAULT 0; DECLARE owner VARCHAR(300)"
			+ " CHARACTER SET utf8mb4; DECLARE attempts INT; DECLARE began, kept BIGINT;"
			+ " DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; START TRANSACTION;"
			+ " UPDATE @@lock@@ SET version = version + 1, expires_at = 0 WHERE namespace = ? AND lock_key = ?"
			+ " AND slot = 0 AND nonce = ? AND token = ? AND unit = ? AND expires_at > 0;"
			+ " SET released = ROW_COUNT(); IF released = 1 THEN"
			+ " SELECT owner_info, attempt, acquired_at, kept_until INTO owner, attempts, began, kept FROM @@lock@@"
			+ " WHERE namespace = ? AND lock_key = ? AND slot = 0;"
			+ " INSERT INTO @@run@@ (namespace, lock_key, unit, status, token, nonce, owner_info, attempt, began_at,"
			+ " ended_at, not_before, error, kept_until) VALUES (?, ?, ?, ?, ?, ?, owner, attempts, began, @@now@@,"
			+ " IF(? < 0, 0, @@now@@ + ?), ?, kept) ON DUPLICATE KEY UPDATE status = VALUES(status), token = VALUES(token),"
			+ " nonce = VALUES(nonce), owner_info = VALUES(owner_info), attempt = VALUES(attempt),"
			+ " began_at = VALUES(began_at), ended_at = VALUES(ended_at), not_before = VALUES(not_before),"
			+ " error = VALUES(error), kept_until = VALUES(kept_until); END IF; COMMIT; SELECT released; END";

	private final String acquire;

	private final String acquireUnit;

	private final String settle;

	private final String undo;

	MariaDbFastPath(Sql sql, String namespace) {
		super(sql, namespace);
		this.acquire = sql.text(acquireText(false));
		this.acquireUnit = sql.text(acquireText(true));
		this.settle = sql.text(SETTLE);
		this.undo = sql.text("DELETE FROM @@lock@@ WHERE namespace = ? AND lock_key = ? AND slot = 0 AND nonce = ?"
				+ " AND version = ?");
	}

	private static String acquireText(boolean unit) {
		String refused = unit ? " AND NOT EXISTS (SELECT 1 FROM @@run@@ r WHERE " + OF_ROW
				+ " AND (r.status = 'D' AND r.began_at > @@now@@ - ? OR r.status <> 'D' AND ? > 0"
				+ " AND (r.attempt + 1 <> ? OR r.not_before > @@now@@)))" : "";
		String attempt = unit
				? "1 + COALESCE((SELECT r.attempt FROM @@run@@ r WHERE " + OF_ROW + " AND r.status <> 'D'), 0)" : "0";
		return "INSERT INTO @@lock@@ (namespace, lock_key, slot, " + Rows.LOCK_COLUMNS + ") VALUES (?, ?,"
				+ " IF(@@now@@ >= ? AND GREATEST(@@now@@, ? + 1) + ? - 1 < " + FencingToken.LIMIT
				+ ", 0, NULL), @@now@@, GREATEST(@@now@@, ? + 1) + ? - 1, ?, ?, ?, ?, " + (unit ? "1" : "0")
				+ ", @@now@@, @@now@@ + ?, '', 0, " + (unit ? "GREATEST(?, @@now@@ + ?)" : "0") + ", 0, ?, 0)"
				+ " ON DUPLICATE KEY UPDATE version = IF(expires_at <= @@now@@ AND (expires_at = 0 OR unit IS NULL)"
				+ " AND shared_until <= @@now@@ AND (VALUES(waiter) = '' OR waiter = VALUES(waiter)"
				+ " OR waiter_until <= @@now@@) AND nonce <> VALUES(nonce) AND LOCATE(VALUES(nonce), tombstones) = 0 AND token + ? < "
				+ FencingToken.LIMIT + refused + ", -1 - version, version),"
				+ " token = IF(version < 0, GREATEST(token + ?, VALUES(token)), token),"
				+ " nonce = IF(version < 0, VALUES(nonce), nonce),"
				+ " lock_name = IF(version < 0, VALUES(lock_name), lock_name),"
				+ " owner_info = IF(version < 0, VALUES(owner_info), owner_info),"
				+ " unit = IF(version < 0, VALUES(unit), unit), attempt = IF(version < 0, " + attempt + ", attempt),"
				+ " acquired_at = IF(version < 0, @@now@@, acquired_at),"
				+ " expires_at = IF(version < 0, VALUES(expires_at), expires_at),"
				+ " tombstones = IF(version < 0 AND buried_at <= @@now@@ - " + LockRow.TOMBSTONE_LIFETIME
				+ ", '', tombstones), kept_until = IF(version < 0, VALUES(kept_until), kept_until),"
				+ " shared_until = IF(version < 0, 0, shared_until),"
				+ " waiter_until = IF(version < 0 AND waiter = VALUES(waiter), 0, waiter_until),"
				+ " version = ABS(version) RETURNING @@now@@, " + Rows.LOCK_COLUMNS + ", "
				+ (unit ? PACKED_RUN : "NULL");
	}

	@Override
	@Nullable Snapshot acquire(Connection connection, AcquireRequest request) throws SQLException {
		Conditions conditions = Conditions.of(request);
		String unit = conditions.unit();
		try (PreparedStatement statement = connection
			.prepareStatement((unit != null) ? this.acquireUnit : this.acquire)) {
			Binder binder = new Binder(statement).texts(namespace(), request.key())
				.number(conditions.earliest())
				.number(request.floor())
				.number(request.tokens())
				.number(request.floor())
				.number(request.tokens())
				.text(request.nonce())
				.name(request.name())
				.text(request.owner().toText())
				.text(unit)
				.number(Micros.of(request.ttl()));
			if (unit != null) {
				binder.number(conditions.keptUntil()).number(conditions.keptFor());
			}
			binder.text(conditions.waiter()).number(request.tokens());
			if (unit != null) {
				binder.text(unit).number(conditions.within()).number(conditions.attempt()).number(conditions.attempt());
			}
			binder.number(request.tokens());
			if (unit != null) {
				binder.texts(unit, unit);
			}
			try (ResultSet rows = statement.executeQuery()) {
				Snapshot seen = rows.next() ? new Snapshot(rows.getLong(1), Rows.lock(rows, 2),
						unpack(unit, rows.getString(2 + Rows.LOCK_WIDTH)), false) : null;
				LockRow lock = (seen != null) ? seen.lock() : null;
				if (seen == null || lock == null || isFounded(seen, lock, request)) {
					return seen;
				}
				undo(connection, request, lock.version());
				return null;
			}
		}
		catch (SQLException ex) {
			if (ex.getErrorCode() == NULL_REFUSED) {
				return null;
			}
			throw ex;
		}
	}

	// a row that was not there is inserted whatever the record says, as nobody deletes a
	// row whose records stay, except by hand
	private static boolean isFounded(Snapshot seen, LockRow lock, AcquireRequest request) {
		if (seen.run() == null || !lock.nonce().equals(request.nonce()) || !lock.isHeld(seen.now())) {
			return true;
		}
		return StoreProtocol.acquire(null, seen.run(), request, seen.now())
			.answer() instanceof Acquisition.Granted granted && granted.attempt() == lock.attempt();
	}

	private void undo(Connection connection, AcquireRequest request, long version) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.undo)) {
			new Binder(statement).texts(namespace(), request.key(), request.nonce()).number(version);
			statement.executeUpdate();
		}
	}

	private static @Nullable RunRow unpack(@Nullable String unit, @Nullable String packed) {
		if (unit == null || packed == null) {
			return null;
		}
		String[] parts = packed.split("\u001f", 10);
		return new RunRow(unit, RunRow.statusOf(parts[0]), Long.parseLong(parts[1]), parts[2], Owner.parse(parts[3]),
				Integer.parseInt(parts[4]), Long.parseLong(parts[5]), Long.parseLong(parts[6]),
				Long.parseLong(parts[7]), parts[9].isEmpty() ? null : parts[9], Long.parseLong(parts[8]));
	}

	@Override
	boolean settle(Connection connection, Grant grant, String unit, Outcome outcome) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.settle)) {
			new Binder(statement).texts(namespace(), grant.key(), grant.nonce())
				.number(grant.token())
				.text(unit)
				.texts(namespace(), grant.key())
				.texts(namespace(), grant.key(), unit, outcome.code())
				.number(grant.token())
				.text(grant.nonce())
				.number(outcome.delayMicros())
				.number(outcome.delayMicros())
				.error(outcome.error());
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() && rows.getInt(1) == 1;
			}
		}
	}

}
