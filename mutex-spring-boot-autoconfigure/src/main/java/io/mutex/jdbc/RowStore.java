package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import io.mutex.HeldLock;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the rows of one namespace with SQL that every platform understands. A
 * write compares the version that was read.
 */
final class RowStore {

	private static final String INSERTED_LOCK = "namespace, lock_key, slot, " + Rows.LOCK_COLUMNS;

	private static final String INSERTED_RUN = "namespace, lock_key, " + Rows.RUN_COLUMNS;

	private final String namespace;

	private final String snapshot;

	private final String update;

	private final String insert;

	private final String upsertRun;

	private final String deleteRun;

	private final String locks;

	private final String lockRow;

	private final String updateSlot;

	private final String deleteSlot;

	private final String newest;

	private final @Nullable String transactionSetup;

	RowStore(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		Sql sql = new Sql(platform, settings);
		this.snapshot = sql.text("SELECT @@now@@, l.slot, " + Rows.qualified("l", Rows.LOCK_COLUMNS) + ", "
				+ Rows.qualified("r", Rows.RUN_COLUMNS) + " FROM (SELECT 1 AS one) o"
				+ " LEFT JOIN @@lock@@ l ON l.namespace = ? AND l.lock_key = ?"
				+ " LEFT JOIN @@run@@ r ON r.namespace = ? AND r.lock_key = ? AND r.unit = ?");
		this.update = sql.text("UPDATE @@lock@@ SET " + Rows.LOCK_COLUMNS.replace(",", " = ?,")
				+ " = ? WHERE namespace = ? AND lock_key = ? AND slot = 0 AND version = ?");
		this.insert = sql.insert(platform.insertLock(), INSERTED_LOCK);
		this.upsertRun = sql.insert(platform.upsertRun(), INSERTED_RUN);
		this.deleteRun = sql.text("DELETE FROM @@run@@ WHERE namespace = ? AND lock_key = ? AND unit = ?");
		this.locks = sql.text("SELECT @@now@@, lock_key, " + Rows.LOCK_COLUMNS + " FROM @@lock@@ WHERE namespace = ?"
				+ " AND expires_at > @@now@@ ORDER BY lock_key, slot " + platform.limit());
		this.lockRow = sql
			.text("SELECT version FROM @@lock@@ WHERE namespace = ? AND lock_key = ? AND slot = 0 FOR UPDATE");
		this.updateSlot = sql
			.text("UPDATE @@lock@@ SET expires_at = ? WHERE namespace = ? AND lock_key = ? AND slot = ?");
		this.deleteSlot = sql.text("DELETE FROM @@lock@@ WHERE namespace = ? AND lock_key = ? AND slot = ?");
		this.newest = sql.text("SELECT " + Rows.RUN_COLUMNS + " FROM @@run@@ WHERE namespace = ? AND lock_key = ?"
				+ " AND status = ? AND began_at > 0 ORDER BY began_at DESC " + platform.limit());
		this.transactionSetup = platform.transactionSetup(settings.lockTimeout());
	}

	// reads a key, its holders and one of its units in one statement, so that all are of
	// one moment
	Snapshot read(Connection connection, String key, @Nullable String unit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.snapshot)) {
			new Binder(statement).texts(this.namespace, key, this.namespace, key, (unit != null) ? unit : "");
			try (ResultSet rows = statement.executeQuery()) {
				Map<Integer, LockRow> slots = new TreeMap<>();
				long now = 0;
				RunRow run = null;
				while (rows.next()) {
					now = rows.getLong(1);
					LockRow row = Rows.lock(rows, 3);
					if (row != null) {
						slots.put(rows.getInt(2), row);
					}
					run = Rows.run(rows, 3 + Rows.LOCK_WIDTH);
				}
				return new Snapshot(now, slots.remove(0), slots, run, false);
			}
		}
	}

	// stores the new rows of a key and commits, if nobody has written it since it was
	// seen; the connection is in auto-commit mode
	boolean write(Connection connection, String key, Snapshot seen, Transition<?> transition) throws SQLException {
		if (this.transactionSetup == null && transition.isSingle()) {
			return writeRows(connection, key, seen, transition);
		}
		return inTransaction(connection, () -> writeRows(connection, key, seen, transition));
	}

	// decides while nobody else can write the row of the key, so that no one has to try
	// again for ever among many; empty if there was no row, and somebody wrote one
	<A> Optional<Transition<A>> decideLocked(Connection connection, String key, @Nullable String unit,
			Function<Snapshot, Transition<A>> decision) throws SQLException {
		return inTransaction(connection, () -> {
			try (PreparedStatement statement = connection.prepareStatement(this.lockRow)) {
				new Binder(statement).texts(this.namespace, key);
				statement.executeQuery().close();
			}
			Snapshot seen = read(connection, key, unit);
			Transition<A> transition = decision.apply(seen);
			boolean stored = !transition.isWrite() || writeRows(connection, key, seen, transition);
			return stored ? Optional.of(transition) : Optional.empty();
		});
	}

	private <T> T inTransaction(Connection connection, Transactions.Work<T> work) throws SQLException {
		return Transactions.run(connection, () -> {
			if (this.transactionSetup != null) {
				try (Statement statement = connection.createStatement()) {
					statement.execute(this.transactionSetup);
				}
			}
			return work.call();
		});
	}

	private boolean writeRows(Connection connection, String key, Snapshot seen, Transition<?> transition)
			throws SQLException {
		if (!writeLock(connection, key, seen.version(), Objects.requireNonNull(transition.lock()))) {
			return false;
		}
		if (transition.shared() != null) {
			writeSlots(connection, key, seen.slots(), transition.shared());
		}
		if (transition.run() != null) {
			writeRun(connection, key, transition.run());
		}
		if (transition.forgotten() != null) {
			deleteRun(connection, key, transition.forgotten());
		}
		return true;
	}

	// the row of the key is locked
	private void writeSlots(Connection connection, String key, Map<Integer, LockRow> slots, List<LockRow> shared)
			throws SQLException {
		Map<String, LockRow> rows = new LinkedHashMap<>();
		shared.forEach((row) -> rows.put(row.nonce(), row));
		Set<Integer> used = new HashSet<>();
		for (Map.Entry<Integer, LockRow> slot : slots.entrySet()) {
			LockRow row = rows.remove(slot.getValue().nonce());
			if (row == null) {
				deleteSlot(connection, key, slot.getKey());
				continue;
			}
			used.add(slot.getKey());
			if (!row.equals(slot.getValue())) {
				updateSlot(connection, key, slot.getKey(), row);
			}
		}
		int slot = 1;
		for (LockRow row : rows.values()) {
			while (!used.add(slot)) {
				slot++;
			}
			insertSlot(connection, key, slot, row);
		}
	}

	private void insertSlot(Connection connection, String key, int slot, LockRow row) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.insert)) {
			new Binder(statement).texts(this.namespace, key).number(slot).lock(row);
			if (statement.executeUpdate() != 1) {
				throw new SQLException("slot " + slot + " of key '" + key + "' was written by another hand");
			}
		}
	}

	private void updateSlot(Connection connection, String key, int slot, LockRow row) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.updateSlot)) {
			new Binder(statement).number(row.expiresAt()).texts(this.namespace, key).number(slot);
			statement.executeUpdate();
		}
	}

	private void deleteSlot(Connection connection, String key, int slot) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.deleteSlot)) {
			new Binder(statement).texts(this.namespace, key).number(slot);
			statement.executeUpdate();
		}
	}

	private boolean writeLock(Connection connection, String key, long read, LockRow lock) throws SQLException {
		if (read == 0) {
			return insertLock(connection, key, lock);
		}
		try (PreparedStatement statement = connection.prepareStatement(this.update)) {
			new Binder(statement).lock(lock).texts(this.namespace, key).number(read);
			return statement.executeUpdate() == 1;
		}
	}

	private boolean insertLock(Connection connection, String key, LockRow lock) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.insert)) {
			new Binder(statement).texts(this.namespace, key).number(0).lock(lock);
			return statement.executeUpdate() == 1;
		}
		catch (SQLException ex) {
			if (Failure.of(ex) == Failure.DUPLICATE) {
				return false;
			}
			throw ex;
		}
	}

	private void writeRun(Connection connection, String key, RunRow run) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.upsertRun)) {
			new Binder(statement).texts(this.namespace, key).run(run);
			statement.executeUpdate();
		}
	}

	private void deleteRun(Connection connection, String key, String unit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.deleteRun)) {
			new Binder(statement).texts(this.namespace, key, unit);
			statement.executeUpdate();
		}
	}

	List<HeldLock> locks(Connection connection, int limit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.locks)) {
			new Binder(statement).text(this.namespace).number(limit);
			List<HeldLock> locks = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					LockRow lock = Rows.lock(rows, 3);
					if (lock != null) {
						lock.toHeldLock(rows.getString(2), rows.getLong(1)).ifPresent(locks::add);
					}
				}
			}
			return locks;
		}
	}

	Optional<HeldLock> lock(Connection connection, String key) throws SQLException {
		Snapshot snapshot = read(connection, key, null);
		return StoreProtocol.holders(key, snapshot.lock(), snapshot.shared(), snapshot.now()).stream().findFirst();
	}

	// the newest of each status suffice, and each is found at the end of the index; in a
	// union, MariaDB reads and sorts them all
	List<RunRecord> runs(Connection connection, String key, int limit) throws SQLException {
		Map<String, RunRecord> runs = new HashMap<>();
		// a unit that succeeds meanwhile is in both answers, and the later one counts
		for (Status status : List.of(Status.IN_DOUBT, Status.FAILED, Status.DONE)) {
			newest(connection, key, status, limit).forEach((run) -> runs.put(run.unit(), run));
		}
		return runs.values().stream().sorted(Comparator.comparing(RunRecord::began).reversed()).limit(limit).toList();
	}

	Optional<RunRecord> lastSuccess(Connection connection, String key) throws SQLException {
		return newest(connection, key, Status.DONE, 1).stream().findFirst();
	}

	private List<RunRecord> newest(Connection connection, String key, Status status, int limit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.newest)) {
			new Binder(statement).texts(this.namespace, key, RunRow.codeOf(status)).number(limit);
			return runs(statement, key);
		}
	}

	private static List<RunRecord> runs(PreparedStatement statement, String key) throws SQLException {
		List<RunRecord> runs = new ArrayList<>();
		try (ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				RunRow run = Rows.run(rows, 1);
				if (run != null) {
					runs.add(run.toRecord(key));
				}
			}
		}
		return runs;
	}

}
