package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.mutex.HeldLock;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
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

	private final String newest;

	private final @Nullable String transactionSetup;

	RowStore(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		Sql sql = new Sql(platform, settings);
		this.snapshot = sql.text("SELECT @@now@@, " + Rows.qualified("l", Rows.LOCK_COLUMNS) + ", "
				+ Rows.qualified("r", Rows.RUN_COLUMNS) + " FROM (SELECT 1 AS one) o"
				+ " LEFT JOIN @@lock@@ l ON l.namespace = ? AND l.lock_key = ? AND l.slot = 0"
				+ " LEFT JOIN @@run@@ r ON r.namespace = ? AND r.lock_key = ? AND r.unit = ?");
		this.update = sql.text("UPDATE @@lock@@ SET " + Rows.LOCK_COLUMNS.replace(",", " = ?,")
				+ " = ? WHERE namespace = ? AND lock_key = ? AND slot = 0 AND version = ?");
		this.insert = sql.insert(platform.insertLock(), INSERTED_LOCK);
		this.upsertRun = sql.insert(platform.upsertRun(), INSERTED_RUN);
		this.deleteRun = sql.text("DELETE FROM @@run@@ WHERE namespace = ? AND lock_key = ? AND unit = ?");
		this.locks = sql.text("SELECT @@now@@, lock_key, " + Rows.LOCK_COLUMNS + " FROM @@lock@@ WHERE namespace = ?"
				+ " AND slot = 0 AND expires_at > @@now@@ ORDER BY lock_key " + platform.limit());
		this.newest = sql.text("SELECT " + Rows.RUN_COLUMNS + " FROM @@run@@ WHERE namespace = ? AND lock_key = ?"
				+ " AND status = ? ORDER BY began_at DESC " + platform.limit());
		this.transactionSetup = platform.transactionSetup(settings.lockTimeout());
	}

	// reads a key and one of its units in one statement, so that both are of one moment
	Snapshot read(Connection connection, String key, @Nullable String unit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.snapshot)) {
			new Binder(statement).texts(this.namespace, key, this.namespace, key, (unit != null) ? unit : "");
			try (ResultSet rows = statement.executeQuery()) {
				rows.next();
				return new Snapshot(rows.getLong(1), Rows.lock(rows, 2), Rows.run(rows, 2 + Rows.LOCK_WIDTH), false);
			}
		}
	}

	// stores the new rows of a key and commits, if nobody has written it since that
	// version was
	// read (0 if there was no row); the connection is in auto-commit mode
	boolean write(Connection connection, String key, long read, Transition<?> transition) throws SQLException {
		LockRow lock = Objects.requireNonNull(transition.lock());
		RunRow run = transition.run();
		String forgotten = transition.forgotten();
		if (run == null && forgotten == null && this.transactionSetup == null) {
			return writeLock(connection, key, read, lock);
		}
		return Transactions.run(connection, () -> {
			if (this.transactionSetup != null) {
				try (Statement statement = connection.createStatement()) {
					statement.execute(this.transactionSetup);
				}
			}
			boolean written = writeLock(connection, key, read, lock);
			if (written && run != null) {
				writeRun(connection, key, run);
			}
			if (written && forgotten != null) {
				deleteRun(connection, key, forgotten);
			}
			return written;
		});
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
					held(rows.getString(2), lock, rows.getLong(1)).ifPresent(locks::add);
				}
			}
			return locks;
		}
	}

	Optional<HeldLock> lock(Connection connection, String key) throws SQLException {
		Snapshot snapshot = read(connection, key, null);
		return held(key, snapshot.lock(), snapshot.now());
	}

	private static Optional<HeldLock> held(String key, @Nullable LockRow lock, long now) {
		return (lock != null) ? lock.toHeldLock(key, now) : Optional.empty();
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
