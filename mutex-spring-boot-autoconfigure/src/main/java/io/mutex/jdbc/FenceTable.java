package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

import io.mutex.Fence;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of the resources, with SQL that every platform understands.
 * <p>
 * Whatever accepts a grant compares it in the same statement, on the locked row. Every
 * change also changes the version of the row, so that a transaction that has seen it
 * before is told, and so that no count of changed rows is 0 for a row that was found.
 */
class FenceTable {

	/**
	 * The columns that have to be there.
	 */
	static final String COLUMNS = "namespace, resource, lock_key, token, nonce, version, changed_at";

	static final String OF_RESOURCE = " WHERE namespace = ? AND resource = ?";

	private static final int MAX_RACES = 3;

	private static final String UPDATE = "UPDATE @@fence@@ SET token = ?, nonce = ?, version = version + 1,"
			+ " changed_at = @@now@@" + OF_RESOURCE + " AND lock_key = ? AND (token < ? OR token = ? AND nonce = ?)";

	private static final String INSERT = "INSERT INTO @@fence@@ (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, 1, @@now@@)";

	private static final String READ = "SELECT @@key@@, token, nonce FROM @@fence@@" + OF_RESOURCE;

	// a resource that is named like a key is guarded by the lock row of that key
	private static final String KEY_BESIDE_LOCKS = "CASE WHEN EXISTS (SELECT 1 FROM @@lock@@ l WHERE l.namespace ="
			+ " @@row@@.namespace AND l.lock_key = @@row@@.resource AND l.slot = 0) THEN resource ELSE lock_key END";

	private static final String CONFIRM = "UPDATE @@fence@@ SET version = version + 1, changed_at = @@now@@"
			+ OF_RESOURCE + " AND lock_key = ? AND token = ? AND nonce = ?";

	private static final String RAISE = "UPDATE @@fence@@ SET token = ?, nonce = ?, version = version + 1,"
			+ " changed_at = @@now@@ WHERE namespace = ? AND lock_key = ? AND token < ? AND token > 0";

	private static final String NEWER = "SELECT resource, token FROM @@fence@@ WHERE namespace = ? AND lock_key = ?"
			+ " AND token > 0 AND (token > ? OR token = ? AND nonce <> ?)";

	private final String namespace;

	private final TransactionLimits limits;

	private final TransactionUpdate confirm;

	private final String update;

	private final String insert;

	private final String read;

	private final String raise;

	private final String newer;

	private final boolean besideLocks;

	FenceTable(JdbcPlatform platform, JdbcSettings settings, String namespace, boolean besideLocks) {
		this.besideLocks = besideLocks;
		this.namespace = namespace;
		this.limits = new TransactionLimits(platform, settings);
		this.confirm = new TransactionUpdate(platform, settings, CONFIRM);
		Sql sql = new Sql(platform, settings);
		this.update = sql.text(UPDATE);
		this.insert = sql.text(INSERT);
		this.read = sql.text(READ.replace("@@key@@", key(besideLocks, "@@fence@@")));
		this.raise = sql.text(raiseText());
		this.newer = sql.text(NEWER);
	}

	// beside locks of the same tables, the resource named like a key belongs to that key
	static FenceTable of(JdbcPlatform platform, JdbcSettings settings, String namespace, boolean besideLocks) {
		return switch (platform) {
			case POSTGRESQL -> new PostgresFenceTable(settings, namespace, besideLocks);
			case MARIADB -> new MariaDbFenceTable(settings, namespace, besideLocks);
			case H2, MYSQL -> new FenceTable(platform, settings, namespace, besideLocks);
		};
	}

	final String namespace() {
		return this.namespace;
	}

	// the key that the resource of a row belongs to
	static String key(boolean besideLocks, String row) {
		return besideLocks ? KEY_BESIDE_LOCKS.replace("@@row@@", row) : "lock_key";
	}

	String raiseText() {
		return RAISE;
	}

	// stores the grant durably if it follows the accepted one
	final Accepted register(Connection connection, Fence fence) throws SQLException {
		return accepted(connection, fence, () -> tryRegister(connection, fence));
	}

	// stores the grant likewise, as a part of a transaction of the application
	final Accepted registerIn(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		this.limits.apply(connection, remaining);
		return accepted(connection, fence, () -> tryRegisterIn(connection, fence, remaining));
	}

	private Accepted accepted(Connection connection, Fence fence, Attempt attempt) throws SQLException {
		for (int race = 1; race <= MAX_RACES; race++) {
			Accepted accepted = attempt.run();
			if (accepted == null) {
				accepted = read(connection, fence.resource());
			}
			// what is read may also be older than the refusal
			if (accepted != null && (accepted.isBy(fence) || !accepted.admits(fence))) {
				return accepted;
			}
		}
		throw new SQLException("the row of the resource was changed by others " + MAX_RACES + " times in a row",
				"40001");
	}

	// what is accepted now, or null if nothing is known but a refusal
	@Nullable Accepted tryRegister(Connection connection, Fence fence) throws SQLException {
		if (update(connection, fence)) {
			return stored(connection, fence);
		}
		return readOrInsert(connection, fence);
	}

	@Nullable Accepted tryRegisterIn(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		return update(connection, fence) ? Accepted.of(fence) : readOrInsert(connection, fence);
	}

	private boolean update(Connection connection, Fence fence) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.update)) {
			new Binder(statement).number(fence.token().value())
				.texts(fence.nonce(), this.namespace, fence.resource(), fence.key())
				.number(fence.token().value())
				.number(fence.token().value())
				.text(fence.nonce());
			return statement.executeUpdate() == 1;
		}
	}

	private @Nullable Accepted readOrInsert(Connection connection, Fence fence) throws SQLException {
		Accepted found = read(connection, fence.resource());
		if (found != null) {
			return found;
		}
		return insert(connection, fence) ? stored(connection, fence) : null;
	}

	private @Nullable Accepted stored(Connection connection, Fence fence) throws SQLException {
		return this.besideLocks ? read(connection, fence.resource()) : Accepted.of(fence);
	}

	private boolean insert(Connection connection, Fence fence) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.insert)) {
			bindRow(new Binder(statement), fence);
			return statement.executeUpdate() == 1;
		}
		catch (SQLException ex) {
			if (Failure.of(ex) == Failure.DUPLICATE) {
				return false;
			}
			throw ex;
		}
	}

	final Binder bindRow(Binder binder, Fence fence) throws SQLException {
		return binder.texts(this.namespace, fence.resource(), fence.key())
			.number(fence.token().value())
			.text(fence.nonce());
	}

	// whether the grant is the accepted one, whose row stays locked then
	final boolean confirm(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		return this.confirm.run(connection, remaining, (binder) -> bindRow(binder, fence));
	}

	final @Nullable Accepted read(Connection connection, String resource) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.read)) {
			new Binder(statement).texts(this.namespace, resource);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? accepted(rows) : null;
			}
		}
	}

	static Accepted accepted(ResultSet rows) throws SQLException {
		return new Accepted(rows.getString(1), rows.getLong(2), rows.getString(3));
	}

	// raises what the key has registered, and returns what is higher than that
	final Optional<Newer> revoke(Connection connection, String key, long token, String nonce) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.raise)) {
			new Binder(statement).number(token).texts(nonce, this.namespace, key).number(token);
			statement.execute();
		}
		try (PreparedStatement statement = connection.prepareStatement(this.newer)) {
			new Binder(statement).texts(this.namespace, key).number(token).number(token).text(nonce);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? Optional.of(new Newer(rows.getString(1), rows.getLong(2))) : Optional.empty();
			}
		}
	}

	/**
	 * The grant that a resource has accepted last.
	 *
	 * @param key the key that the resource belongs to
	 * @param token the token
	 * @param nonce the nonce
	 */
	record Accepted(String key, long token, String nonce) {

		static Accepted of(Fence fence) {
			return new Accepted(fence.key(), fence.token().value(), fence.nonce());
		}

		boolean isBy(Fence fence) {
			return this.key.equals(fence.key()) && fence.isOf(this.token, this.nonce);
		}

		private boolean admits(Fence fence) {
			return this.key.equals(fence.key()) && fence.follows(this.token, this.nonce);
		}

	}

	/**
	 * A later grant that a resource has accepted.
	 *
	 * @param resource the resource
	 * @param token its token
	 */
	record Newer(String resource, long token) {

	}

	@FunctionalInterface
	private interface Attempt {

		@Nullable Accepted run() throws SQLException;

	}

}
