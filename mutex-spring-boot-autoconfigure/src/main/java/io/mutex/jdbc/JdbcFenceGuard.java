package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

import javax.sql.DataSource;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.TransactionGuard;
import io.mutex.jdbc.FenceTable.Accepted;
import io.mutex.jdbc.FenceTable.Newer;
import org.jspecify.annotations.Nullable;

/**
 * The guard of a relational database: what it has accepted for a resource stands in the
 * database that keeps the data, and is checked in the transaction that writes them.
 * <p>
 * A resource is a row of the table {@code mutex_fence}, registered on a connection of the
 * guard's own, in a short transaction that is durable before it returns. Where the locks
 * are kept in the same database, the row of the lock itself is the guard of the resource
 * named like the key: a grant has changed it, so there is nothing to register.
 * <p>
 * A confirmation is an update in either case, so the row stays locked until the
 * transaction has ended. A later grant or registration waits for that, at most for the
 * lock time-out, and sees another version of the row then.
 */
public final class JdbcFenceGuard implements TransactionGuard, AutoCloseable {

	// a statement that would write, in a transaction that may only read
	private static final int READ_ONLY_TRANSACTION = 1792;

	private final DataSource dataSource;

	private final String namespace;

	private final JdbcSettings settings;

	private final Calls calls;

	private final @Nullable ConnectionSource connections;

	private final @Nullable JdbcLockProvider locks;

	private volatile @Nullable Statements statements;

	/**
	 * Creates a guard beside locks that are kept elsewhere. The database is not touched
	 * before the first operation.
	 * @param dataSource the database of the data
	 * @param namespace separates applications that share the table: not blank, at most
	 * 200 characters
	 * @param settings how the table is reached
	 */
	public JdbcFenceGuard(DataSource dataSource, String namespace, JdbcSettings settings) {
		this(dataSource, namespace, settings, new ConnectionSource(dataSource, settings), null);
	}

	private JdbcFenceGuard(DataSource dataSource, String namespace, JdbcSettings settings, ConnectionSource connections,
			@Nullable JdbcLockProvider locks) {
		this.dataSource = dataSource;
		this.namespace = JdbcLockProvider.requireNamespace(namespace);
		this.settings = settings;
		this.connections = (locks != null) ? null : connections;
		this.calls = new Calls(connections, settings, "jdbc guard");
		this.locks = locks;
	}

	/**
	 * Creates the guard of the database that keeps the locks.
	 * @param locks the locks, whose connections it uses
	 * @return the guard, which needs no closing
	 */
	public static JdbcFenceGuard of(JdbcLockProvider locks) {
		return new JdbcFenceGuard(locks.dataSource(), locks.namespace(), locks.settings(), locks.connections(), locks);
	}

	@Override
	public String name() {
		String table = this.settings.table("fence");
		return "jdbc (" + ((this.locks != null) ? "lock row, " + table : table) + ")";
	}

	@Override
	public DataSource dataSource() {
		return this.dataSource;
	}

	@Override
	public void check() {
		if (this.locks == null) {
			this.calls.call(null, "check", (connection, platform) -> statements(platform).check().run(connection));
		}
	}

	@Override
	public void register(Fence fence) {
		if (isLockRow(fence)) {
			return;
		}
		require(fence, this.calls.callRepeatable(fence.key(), "register a fencing token of",
				(connection, platform) -> statements(platform).table().register(connection, fence)));
	}

	@Override
	public void revoke(String key, FencingToken token, String nonce) {
		Optional<Newer> newer = this.calls.callRepeatable(key, "revoke the fencing tokens of",
				(connection, platform) -> statements(platform).table().revoke(connection, key, token.value(), nonce));
		if (newer.isPresent()) {
			throw new StaleFencingTokenException(newer.get().resource(), token, new FencingToken(newer.get().token()));
		}
	}

	// a renewal changes the row of the lock, and a later registration that of the table
	@Override
	public @Nullable String unfitIsolation(Fence fence, int isolation) {
		return (this.locks != null && isLockRow(fence)) ? this.locks.unfitIsolation(isolation) : null;
	}

	@Override
	public void confirm(Connection connection, Fence fence, @Nullable Duration remaining) throws SQLException {
		Statements statements = statements(connection);
		boolean readOnly = connection.isReadOnly();
		if (readOnly && statements.platform() == JdbcPlatform.POSTGRESQL && refusesWrites(connection)) {
			return;
		}
		// the driver of MySQL would refuse by itself, and only the server knows
		boolean refusedByDriver = readOnly && statements.platform() == JdbcPlatform.MYSQL;
		if (refusedByDriver) {
			connection.setReadOnly(false);
		}
		try {
			confirm(statements, connection, fence, remaining);
		}
		catch (SQLException ex) {
			// then it has written nothing, and nothing is left to refuse
			if (ex.getErrorCode() != READ_ONLY_TRANSACTION) {
				throw ex;
			}
		}
		finally {
			if (refusedByDriver) {
				connection.setReadOnly(true);
			}
		}
	}

	private void confirm(Statements statements, Connection connection, Fence fence, @Nullable Duration remaining)
			throws SQLException {
		if (isLockRow(fence)) {
			confirmOwner(statements.owner(), connection, fence, remaining);
		}
		else if (fence.strict()) {
			confirmRegistered(statements.table(), connection, fence, remaining);
		}
		else {
			require(fence, statements.table().registerIn(connection, fence, remaining));
		}
	}

	private static void confirmOwner(OwnerCheck owner, Connection connection, Fence fence, @Nullable Duration remaining)
			throws SQLException {
		if (!owner.confirm(connection, fence, remaining)) {
			long latest = Math.max(owner.latest(connection, fence.key()), fence.token().value());
			throw new StaleFencingTokenException(fence.resource(), fence.token(), new FencingToken(latest));
		}
	}

	private void confirmRegistered(FenceTable table, Connection connection, Fence fence, @Nullable Duration remaining)
			throws SQLException {
		if (!table.confirm(connection, fence, remaining)) {
			Accepted accepted = table.read(connection, fence.resource());
			if (accepted != null && !accepted.isBy(fence)) {
				require(fence, accepted);
			}
			throw new MutexException(fence.key(), "fencing token " + fence.token() + " is not registered at resource '"
					+ fence.resource() + "': its row was removed from " + this.settings.table("fence"));
		}
	}

	private void require(Fence fence, Accepted accepted) {
		if (!accepted.key().equals(fence.key())) {
			throw new MutexException(fence.key(), "resource '" + fence.resource() + "' belongs to key '"
					+ accepted.key() + "' and refuses key '" + fence.key()
					+ "', since the tokens of different keys cannot be compared: give each key a resource of its own;"
					+ " if '" + accepted.key() + "' was renamed, stop all instances that use it and delete the row"
					+ " of the resource from " + this.settings.table("fence") + " (namespace '" + this.namespace
					+ "')");
		}
		if (!accepted.isBy(fence)) {
			throw new StaleFencingTokenException(fence.resource(), fence.token(), new FencingToken(accepted.token()));
		}
	}

	// the driver may have been told to ignore that a connection is for reading only
	private static boolean refusesWrites(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT current_setting('transaction_read_only')")) {
			return rows.next() && "on".equals(rows.getString(1));
		}
	}

	@Override
	public void restore(Connection connection) {
		Statements known = this.statements;
		if (known != null) {
			known.limits().restore(connection);
		}
	}

	// beside locks of the same database the rows are removed together with theirs
	@Override
	public Purged purge(Duration idle, @Nullable String after, int limit) {
		return (this.locks != null) ? new Purged(0, null) : this.calls.call(null, "clean up", (connection,
				platform) -> statements(platform).purge().purge(connection, idle, (after != null) ? after : "", limit));
	}

	private boolean isLockRow(Fence fence) {
		return this.locks != null && fence.resource().equals(fence.key());
	}

	private Statements statements(Connection connection) throws SQLException {
		Statements known = this.statements;
		return (known != null) ? known : statements(JdbcSchema.platform(connection, this.settings));
	}

	private Statements statements(JdbcPlatform platform) {
		Statements known = this.statements;
		if (known == null) {
			known = new Statements(platform, FenceTable.of(platform, this.settings, this.namespace, this.locks != null),
					new OwnerCheck(platform, this.settings, this.namespace),
					new TransactionLimits(platform, this.settings), StoreCheck.ofFences(platform, this.settings),
					new FencePurge(platform, this.settings, this.namespace));
			this.statements = known;
		}
		return known;
	}

	/**
	 * Closes the connections of the guard's own.
	 */
	@Override
	public void close() {
		if (this.connections != null) {
			this.connections.close();
		}
	}

	/**
	 * The statements for one platform.
	 */
	private record Statements(JdbcPlatform platform, FenceTable table, OwnerCheck owner, TransactionLimits limits,
			StoreCheck check, FencePurge purge) {

	}

}
