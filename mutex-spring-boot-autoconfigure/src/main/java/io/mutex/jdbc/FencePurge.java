package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.mutex.Purged;
import io.mutex.protocol.Micros;
import org.jspecify.annotations.Nullable;

/**
 * Removes the rows of resources at which nothing was registered or confirmed for a long
 * time, in the order of their names.
 * <p>
 * A row that is gone refuses nobody by itself, so none goes that somebody could still
 * need. A strict grant confirms by finding its own row, so without it it is refused,
 * whatever it is. A late registration could bring an older token back only if it was
 * under way for the whole retention and {@link #HOLD} more; and its owner is sent away by
 * its own clocks before it works. The resources of a key that is held in the same
 * database stay. The rows are locked before they are judged for good, and a locked one is
 * passed over: a registration either comes before and makes the row young, or after and
 * begins a new one.
 */
final class FencePurge {

	/**
	 * What is added to the retention for those who hold a key.
	 */
	static final Duration HOLD = Duration.ofDays(30);

	private static final String PAGE = "SELECT resource, changed_at, @@now@@ FROM @@fence@@ WHERE namespace = ?"
			+ " AND resource > ? ORDER BY resource ";

	private static final String LOCK = "SELECT resource FROM @@fence@@ f WHERE namespace = ? AND changed_at <= ?"
			+ " AND resource IN (@@resources@@) AND NOT EXISTS (SELECT 1 FROM @@lock@@ l WHERE l.namespace = f.namespace"
			+ " AND l.lock_key = f.lock_key AND l.slot = 0 AND l.expires_at > @@now@@) FOR UPDATE SKIP LOCKED";

	private static final String DELETE = "DELETE FROM @@fence@@ WHERE namespace = ? AND resource IN (@@resources@@)";

	private final String namespace;

	private final String page;

	private final String lock;

	private final String delete;

	private final @Nullable String transactionSetup;

	FencePurge(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		Sql sql = new Sql(platform, settings);
		this.page = sql.text(PAGE + platform.limit());
		this.lock = sql.text(LOCK);
		this.delete = sql.text(DELETE);
		this.transactionSetup = platform.transactionSetup(settings.lockTimeout());
	}

	Purged purge(Connection connection, Duration idle, String after, int limit) throws SQLException {
		long age = Micros.of(idle) + Micros.of(HOLD);
		long latest = 0;
		int seen = 0;
		String last = after;
		List<String> spent = new ArrayList<>();
		try (PreparedStatement statement = connection.prepareStatement(this.page)) {
			new Binder(statement).texts(this.namespace, after).number(limit);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					seen++;
					last = rows.getString(1);
					latest = rows.getLong(3) - age;
					if (rows.getLong(2) <= latest) {
						spent.add(last);
					}
				}
			}
		}
		return new Purged(spent.isEmpty() ? 0 : remove(connection, spent, latest), (seen == limit) ? last : null);
	}

	private int remove(Connection connection, List<String> resources, long latest) throws SQLException {
		return Transactions.run(connection, () -> {
			if (this.transactionSetup != null) {
				try (Statement statement = connection.createStatement()) {
					statement.execute(this.transactionSetup);
				}
			}
			List<String> locked = new ArrayList<>();
			try (PreparedStatement statement = connection.prepareStatement(with(this.lock, resources))) {
				new Binder(statement).text(this.namespace).number(latest).texts(resources.toArray(String[]::new));
				try (ResultSet rows = statement.executeQuery()) {
					while (rows.next()) {
						locked.add(rows.getString(1));
					}
				}
			}
			return locked.isEmpty() ? 0 : delete(connection, locked);
		});
	}

	private int delete(Connection connection, List<String> resources) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(with(this.delete, resources))) {
			new Binder(statement).text(this.namespace).texts(resources.toArray(String[]::new));
			return statement.executeUpdate();
		}
	}

	private static String with(String sql, List<String> resources) {
		return sql.replace("@@resources@@", String.join(", ", Collections.nCopies(resources.size(), "?")));
	}

}
