package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * Lends connections that are fit for the store's statements: in auto-commit mode, at READ
 * COMMITTED, writable, with a limit on every answer. They are no part of any transaction
 * of the caller, and go back as they came.
 */
final class ConnectionSource implements AutoCloseable {

	private static final int ISOLATION = Connection.TRANSACTION_READ_COMMITTED;

	private final DataSource application;

	private final JdbcSettings settings;

	private final Set<Connection> prepared = Collections
		.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable JdbcPlatform platform;

	private volatile @Nullable Pool pool;

	private volatile @Nullable Pool apart;

	private volatile @Nullable Integer borrowedIsolation;

	private volatile boolean closed;

	ConnectionSource(DataSource application, JdbcSettings settings) {
		this.application = application;
		this.settings = settings;
	}

	// does work on a connection. The platform is asked for at the first use.
	<T> T call(Work<T> work) throws SQLException {
		return call(pool(), work);
	}

	// does work that waits for no connection which other work has, if there are own ones
	<T> T callApart(Work<T> work) throws SQLException {
		return call(apart(), work);
	}

	private <T> T call(Pool pool, Work<T> work) throws SQLException {
		try (Connection connection = pool.connect()) {
			JdbcPlatform platform = platform(connection);
			return pool.own() ? callOwn(pool, connection, platform, work) : callBorrowed(connection, platform, work);
		}
	}

	private <T> T callOwn(Pool pool, Connection connection, JdbcPlatform platform, Work<T> work) throws SQLException {
		limitAnswers(connection, platform);
		String setup = platform.sessionSetup(this.settings.lockTimeout());
		if (setup != null && !this.prepared.contains(connection.unwrap(Connection.class))) {
			try (Statement statement = connection.createStatement()) {
				statement.execute(setup);
			}
			this.prepared.add(connection.unwrap(Connection.class));
		}
		try {
			return work.on(connection, platform);
		}
		catch (SQLException ex) {
			if (Failure.of(ex) == Failure.READ_ONLY) {
				// the server was the primary once; a new connection may find the present
				// one
				pool.discard(connection);
			}
			throw ex;
		}
	}

	private <T> T callBorrowed(Connection connection, JdbcPlatform platform, Work<T> work) throws SQLException {
		Borrowed borrowed = new Borrowed(connection.getAutoCommit(), connection.isReadOnly(), isolation(connection),
				limitAnswers(connection, platform));
		T result;
		try {
			borrowed.prepare(connection);
			result = work.on(connection, platform);
		}
		catch (SQLException | RuntimeException ex) {
			try {
				borrowed.restore(connection);
			}
			catch (SQLException further) {
				ex.addSuppressed(further);
			}
			throw ex;
		}
		borrowed.restore(connection);
		return result;
	}

	// asked for once: some drivers ask the server each time
	private int isolation(Connection connection) throws SQLException {
		Integer isolation = this.borrowedIsolation;
		if (isolation == null) {
			isolation = connection.getTransactionIsolation();
			this.borrowedIsolation = isolation;
		}
		return isolation;
	}

	private int limitAnswers(Connection connection, JdbcPlatform platform) throws SQLException {
		if (platform == JdbcPlatform.H2) {
			return -1;
		}
		int before = connection.getNetworkTimeout();
		connection.setNetworkTimeout(Runnable::run, (int) this.settings.queryTimeout().toMillis());
		return before;
	}

	// a pool of one connection beside the own ones, for a thread that keeps it; null
	// where connections are borrowed
	@Nullable Pool single() throws SQLException {
		Pool pool = pool();
		return pool.own() ? pool.single() : null;
	}

	boolean isClosed() {
		return this.closed;
	}

	// the platform, if a connection was had before
	@Nullable JdbcPlatform knownPlatform() {
		return (this.settings.platform() != null) ? this.settings.platform() : this.platform;
	}

	private JdbcPlatform platform(Connection connection) throws SQLException {
		JdbcPlatform known = this.platform;
		if (known == null) {
			known = JdbcSchema.platform(connection, this.settings);
			this.platform = known;
		}
		return known;
	}

	private Pool pool() throws SQLException {
		Pool existing = this.pool;
		return (existing != null && !this.closed) ? existing : open();
	}

	private Pool open() throws SQLException {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new SQLException("the jdbc provider is closed");
			}
			Pool existing = this.pool;
			if (existing == null) {
				existing = Pool.of(this.application, this.settings);
				this.pool = existing;
			}
			return existing;
		}
		finally {
			this.lock.unlock();
		}
	}

	private Pool apart() throws SQLException {
		this.lock.lock();
		try {
			Pool existing = this.apart;
			if (existing == null) {
				Pool shared = pool();
				existing = shared.own() ? Pool.of(this.application, this.settings.withPoolSize(1)) : shared;
				this.apart = existing;
			}
			return existing;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
		close(this.pool);
		close(this.apart);
	}

	private static void close(@Nullable Pool open) {
		if (open != null) {
			open.close();
		}
	}

	/**
	 * Something to do on a connection.
	 *
	 * @param <T> the type of the answer
	 */
	@FunctionalInterface
	interface Work<T> {

		T on(Connection connection, JdbcPlatform platform) throws SQLException;

	}

	/**
	 * How a connection of the application came.
	 *
	 * @param autoCommit whether it committed each statement
	 * @param readOnly whether it was meant for reading only
	 * @param isolation its isolation level
	 * @param networkTimeout its limit for an answer in milliseconds, or -1 if that was
	 * left alone
	 */
	private record Borrowed(boolean autoCommit, boolean readOnly, int isolation, int networkTimeout) {

		void prepare(Connection connection) throws SQLException {
			if (!this.autoCommit) {
				connection.setAutoCommit(true);
			}
			if (this.readOnly) {
				connection.setReadOnly(false);
			}
			if (this.isolation != ISOLATION) {
				connection.setTransactionIsolation(ISOLATION);
			}
		}

		void restore(Connection connection) throws SQLException {
			if (connection.isClosed()) {
				return;
			}
			if (this.isolation != ISOLATION) {
				connection.setTransactionIsolation(this.isolation);
			}
			if (this.readOnly) {
				connection.setReadOnly(true);
			}
			if (!this.autoCommit) {
				connection.setAutoCommit(false);
			}
			if (this.networkTimeout >= 0) {
				connection.setNetworkTimeout(Runnable::run, this.networkTimeout);
			}
		}

	}

}
