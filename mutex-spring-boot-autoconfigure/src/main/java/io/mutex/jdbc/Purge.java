package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.mutex.Purged;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Retention;
import io.mutex.protocol.Retention.Newest;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * Removes rows that need not be kept: first the runs whose time is over, by an index,
 * then the keys without runs, in the order of their names, then the resources. Whatever
 * is removed, its lock row is locked meanwhile and changes its version, so that no
 * acquisition is decided by what is gone. A locked row is passed over.
 */
final class Purge {

	private static final String RUNS = "runs";

	private static final String KEYS = "keys:";

	private static final String FENCES = "fences:";

	private static final Newest NOTHING = new Newest(0, 0);

	private final String namespace;

	private final String now;

	private final String dueRuns;

	private final String newest;

	private final String keys;

	private final String lockRows;

	private final String deleteRun;

	private final String postpone;

	private final String touch;

	private final String deleteKey;

	private final FencePurge fences;

	private final @Nullable String transactionSetup;

	Purge(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		Sql sql = new Sql(platform, settings);
		this.now = sql.text("SELECT @@now@@ FROM (SELECT 1 AS one) o");
		this.dueRuns = sql.text("SELECT lock_key, " + Rows.RUN_COLUMNS
				+ " FROM @@run@@ WHERE namespace = ? AND kept_until <= ? AND kept_until > 0 ORDER BY kept_until "
				+ platform.limit());
		this.newest = sql.text("SELECT l.lock_key, " + latest("D") + ", " + latest("F") + ", " + latest("X")
				+ " FROM @@lock@@ l WHERE l.namespace = ? AND l.slot = 0 AND l.lock_key IN (@@keys@@)");
		this.keys = sql.text("SELECT lock_key, " + Rows.LOCK_COLUMNS
				+ " FROM @@lock@@ WHERE namespace = ? AND slot = 0 AND lock_key > ? ORDER BY lock_key "
				+ platform.limit());
		this.lockRows = sql.text("SELECT lock_key, " + Rows.LOCK_COLUMNS
				+ " FROM @@lock@@ WHERE namespace = ? AND slot = 0 AND lock_key IN (@@keys@@) ORDER BY lock_key"
				+ " FOR UPDATE SKIP LOCKED");
		this.deleteRun = sql.text("DELETE FROM @@run@@ WHERE namespace = ? AND lock_key = ? AND unit = ?");
		this.postpone = sql.text("UPDATE @@run@@ SET kept_until = ? WHERE namespace = ? AND lock_key = ? AND unit = ?"
				+ " AND kept_until = ?");
		this.touch = sql
			.text("UPDATE @@lock@@ SET version = version + 1 WHERE namespace = ? AND lock_key = ? AND slot = 0");
		this.deleteKey = sql.text("DELETE FROM @@lock@@ WHERE namespace = ? AND lock_key = ?"
				+ " AND NOT EXISTS (SELECT 1 FROM @@run@@ r WHERE r.namespace = ? AND r.lock_key = ?)");
		this.fences = new FencePurge(platform, settings, namespace);
		this.transactionSetup = platform.transactionSetup(settings.lockTimeout());
	}

	private static String latest(String status) {
		return "COALESCE((SELECT n.began_at FROM @@run@@ n WHERE n.namespace = l.namespace"
				+ " AND n.lock_key = l.lock_key AND n.status = '" + status
				+ "' AND n.began_at > 0 ORDER BY n.began_at DESC LIMIT 1), 0)";
	}

	Purged purge(Connection connection, Duration idle, @Nullable String after, int limit) throws SQLException {
		if (after != null && after.startsWith(KEYS)) {
			return purgeKeys(connection, idle, after.substring(KEYS.length()), limit);
		}
		if (after != null && after.startsWith(FENCES)) {
			Purged batch = this.fences.purge(connection, idle, after.substring(FENCES.length()), limit);
			return new Purged(batch.removed(), (batch.next() != null) ? FENCES + batch.next() : null);
		}
		return purgeRuns(connection, limit);
	}

	private Purged purgeRuns(Connection connection, int limit) throws SQLException {
		long now = now(connection);
		Set<String> keys = dueRuns(connection, now, limit).stream()
			.map(DueRun::key)
			.collect(Collectors.toCollection(TreeSet::new));
		if (keys.isEmpty()) {
			return new Purged(0, KEYS);
		}
		return inTransaction(connection, () -> {
			Map<String, LockRow> locked = lock(connection, keys);
			// again, as it is now that nobody can change it
			List<DueRun> due = dueRuns(connection, now, limit);
			Map<String, Newest> newest = newest(connection, locked);
			List<DueRun> spent = due.stream()
				.filter((run) -> run.isSpent(locked.get(run.key()), newest.getOrDefault(run.key(), NOTHING), now))
				.toList();
			update(connection, this.touch,
					spent.stream().map(DueRun::key).collect(Collectors.toCollection(TreeSet::new)),
					(binder, key) -> binder.texts(this.namespace, key));
			update(connection, this.deleteRun, spent,
					(binder, run) -> binder.texts(this.namespace, run.key(), run.row().unit()));
			update(connection, this.postpone, due.stream().filter((run) -> !spent.contains(run)).toList(),
					(binder, run) -> binder.number(now + Retention.POSTPONED)
						.texts(this.namespace, run.key(), run.row().unit())
						.number(run.row().keptUntil()));
			return new Purged(spent.size(), (due.size() == limit) ? RUNS : KEYS);
		});
	}

	private Purged purgeKeys(Connection connection, Duration idle, String after, int limit) throws SQLException {
		long now = now(connection);
		Map<String, LockRow> seen = keys(connection, after, limit);
		String next = (seen.size() == limit) ? KEYS + Collections.max(seen.keySet()) : FENCES;
		Set<String> spent = spent(seen, idle, now);
		if (spent.isEmpty()) {
			return new Purged(0, next);
		}
		return inTransaction(connection, () -> {
			Set<String> still = spent(lock(connection, spent), idle, now);
			int removed = update(connection, this.deleteKey, still,
					(binder, key) -> binder.texts(this.namespace, key, this.namespace, key));
			return new Purged(removed, next);
		});
	}

	private static Set<String> spent(Map<String, LockRow> rows, Duration idle, long now) {
		return rows.entrySet()
			.stream()
			.filter((entry) -> Retention.isSpent(entry.getValue(), entry.getKey(), idle, now))
			.map(Map.Entry::getKey)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private long now(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(this.now)) {
			rows.next();
			return rows.getLong(1);
		}
	}

	private List<DueRun> dueRuns(Connection connection, long now, int limit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.dueRuns)) {
			new Binder(statement).text(this.namespace).number(now).number(limit);
			List<DueRun> due = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					RunRow row = Rows.run(rows, 2);
					if (row != null) {
						due.add(new DueRun(rows.getString(1), row));
					}
				}
			}
			return due;
		}
	}

	// of the keys of which the newest stays
	private Map<String, Newest> newest(Connection connection, Map<String, LockRow> locks) throws SQLException {
		List<String> constant = locks.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().name().equals(entry.getKey()))
			.map(Map.Entry::getKey)
			.toList();
		Map<String, Newest> newest = new HashMap<>();
		if (constant.isEmpty()) {
			return newest;
		}
		try (PreparedStatement statement = prepare(connection, this.newest, constant);
				ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				long success = rows.getLong(2);
				long other = Math.max(rows.getLong(3), rows.getLong(4));
				newest.put(rows.getString(1), new Newest(Math.max(success, other), success));
			}
		}
		return newest;
	}

	private Map<String, LockRow> keys(Connection connection, String after, int limit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.keys)) {
			new Binder(statement).texts(this.namespace, after).number(limit);
			return lockRows(statement);
		}
	}

	private Map<String, LockRow> lock(Connection connection, Collection<String> keys) throws SQLException {
		try (PreparedStatement statement = prepare(connection, this.lockRows, keys)) {
			return lockRows(statement);
		}
	}

	private PreparedStatement prepare(Connection connection, String text, Collection<String> keys) throws SQLException {
		PreparedStatement statement = connection
			.prepareStatement(text.replace("@@keys@@", String.join(", ", Collections.nCopies(keys.size(), "?"))));
		Binder binder = new Binder(statement).text(this.namespace);
		for (String key : keys) {
			binder.text(key);
		}
		return statement;
	}

	private static Map<String, LockRow> lockRows(PreparedStatement statement) throws SQLException {
		Map<String, LockRow> locks = new LinkedHashMap<>();
		try (ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				LockRow row = Rows.lock(rows, 2);
				if (row != null) {
					locks.put(rows.getString(1), row);
				}
			}
		}
		return locks;
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

	private <T> int update(Connection connection, String text, Collection<T> items, Binding<T> binding)
			throws SQLException {
		if (items.isEmpty()) {
			return 0;
		}
		try (PreparedStatement statement = connection.prepareStatement(text)) {
			for (T item : items) {
				binding.bind(new Binder(statement), item);
				statement.addBatch();
			}
			int changed = 0;
			for (int count : statement.executeBatch()) {
				changed += (count == 0) ? 0 : 1;
			}
			return changed;
		}
	}

	/**
	 * A run whose time is over.
	 *
	 * @param key the key
	 * @param row its row
	 */
	private record DueRun(String key, RunRow row) {

		boolean isSpent(@Nullable LockRow locked, Newest newest, long now) {
			return locked != null && Retention.isSpent(this.row, newest, locked, this.key, now);
		}

	}

	@FunctionalInterface
	private interface Binding<T> {

		void bind(Binder binder, T item) throws SQLException;

	}

}
