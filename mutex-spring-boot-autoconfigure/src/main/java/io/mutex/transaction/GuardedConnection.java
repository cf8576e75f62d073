package io.mutex.transaction;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import javax.sql.DataSource;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

/**
 * A connection that a protected call has obtained outside of a transaction of Spring.
 * What would commit itself is run in a transaction of its own instead, and whatever
 * commits is confirmed before.
 */
final class GuardedConnection extends Delegate {

	private final Connection target;

	private final DataSource dataSource;

	private final FenceCheck check;

	private final Thread owner = Thread.currentThread();

	/** The leases of the call that has obtained the connection, for other threads. */
	private final List<Lease> obtainedUnder;

	private final Confirmable proxy;

	/** Whether something was done since the last commit. */
	private boolean used;

	private boolean confirmed;

	private GuardedConnection(Connection target, DataSource dataSource, FenceCheck check, List<Lease> obtainedUnder) {
		super(target);
		this.target = target;
		this.dataSource = dataSource;
		this.check = check;
		this.obtainedUnder = obtainedUnder;
		this.proxy = (Confirmable) Proxy.newProxyInstance(GuardedConnection.class.getClassLoader(),
				new Class<?>[] { Confirmable.class }, this);
	}

	static Connection of(Connection target, DataSource dataSource, FenceCheck check, List<Lease> leases) {
		return new GuardedConnection(target, dataSource, check, leases).proxy;
	}

	/**
	 * Says that everything was confirmed that the transaction of a connection needs.
	 * @param connection the connection, which is about to be committed
	 */
	static void confirmed(Connection connection) {
		try {
			if (connection.isWrapperFor(Confirmable.class)) {
				connection.unwrap(Confirmable.class).confirmed();
			}
		}
		catch (SQLException ex) {
			throw new MutexException(null, "the connection of a transaction is not known: " + ex.getMessage(), ex);
		}
	}

	Connection proxy() {
		return this.proxy;
	}

	@Override
	@Nullable Object call(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		switch (method.getName()) {
			case "confirmed" -> {
				this.confirmed = true;
				return null;
			}
			case "createStatement", "prepareStatement", "prepareCall" -> {
				return statement(method, args);
			}
			case "commit" -> {
				return commit(() -> proceed(method, args));
			}
			case "setAutoCommit" -> {
				// to turn it on commits what was done before
				boolean commits = args != null && Boolean.TRUE.equals(args[0]) && !this.target.getAutoCommit();
				return commits ? commit(() -> proceed(method, args)) : proceed(method, args);
			}
			case "rollback" -> {
				if (args == null) {
					ended();
				}
			}
			case "close", "abort" -> {
				if (this.used && method.getName().equals("close") && !this.target.isClosed()
						&& !this.target.getAutoCommit()) {
					// some drivers would commit
					this.target.rollback();
				}
				ended();
			}
			default -> {
			}
		}
		return proceed(method, args);
	}

	private @Nullable Object statement(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		String sql = (args != null && args.length > 0 && args[0] instanceof String text) ? text : null;
		if (isUpdatable(method, args) && this.target.getAutoCommit() && !fenced().isEmpty()) {
			throw refusal("an updatable result set commits by itself, and no guard could check it");
		}
		Class<?> type = switch (method.getName()) {
			case "prepareCall" -> CallableStatement.class;
			case "prepareStatement" -> PreparedStatement.class;
			default -> Statement.class;
		};
		Object statement = proceed(method, args);
		return (statement instanceof Statement made) ? GuardedStatement.of(made, type, sql, this) : statement;
	}

	// the concurrency stands behind the type of the result set
	private static boolean isUpdatable(Method method, @Nullable Object @Nullable [] args) {
		Class<?>[] types = method.getParameterTypes();
		int first = (types.length > 0 && types[0] == String.class) ? 1 : 0;
		return args != null && types.length >= first + 2 && types[first + 1] == int.class
				&& Integer.valueOf(ResultSet.CONCUR_UPDATABLE).equals(args[first + 1]);
	}

	/**
	 * Executes a statement, in a transaction of its own if it would commit itself.
	 * @param statement the statement
	 * @param sql its text, or {@code null} for a batch
	 * @param execution executes it
	 * @return what the execution returns
	 * @throws Throwable what it throws, or what a guard refuses by
	 */
	@Nullable Object execute(Statement statement, @Nullable String sql, Execution execution) throws Throwable {
		List<Lease> leases = fenced();
		if (leases.isEmpty()) {
			this.used = true;
			return execution.run();
		}
		if (sql != null && SqlText.controlsTransactions(sql)) {
			throw refusal("'" + SqlText.firstWord(sql) + "' begins or ends a transaction that no guard sees");
		}
		if (!this.target.getAutoCommit()) {
			this.used = true;
			return execution.run();
		}
		Confirmation confirmation = (sql == null || !SqlText.reads(sql))
				? this.check.confirmation(this.dataSource, this.target, leases) : null;
		return (confirmation != null) ? executeConfirmed(statement, confirmation, execution) : execution.run();
	}

	private @Nullable Object executeConfirmed(Statement statement, Confirmation confirmation, Execution execution)
			throws Throwable {
		int fetchSize = statement.getFetchSize();
		if (fetchSize != 0) {
			// what is fetched later would come after the commit
			statement.setFetchSize(0);
		}
		this.target.setAutoCommit(false);
		Object result;
		try {
			result = execution.run();
			confirmation.confirmAll();
			this.target.commit();
		}
		catch (Throwable ex) {
			attempt(ex, this.target::rollback);
			attempt(ex, confirmation::end);
			attempt(ex, () -> this.target.setAutoCommit(true));
			throw ex;
		}
		confirmation.end();
		this.target.setAutoCommit(true);
		if (fetchSize != 0) {
			statement.setFetchSize(fetchSize);
		}
		return result;
	}

	private @Nullable Object commit(Execution commit) throws Throwable {
		List<Lease> leases = (this.used && !this.confirmed) ? fenced() : List.of();
		Confirmation confirmation = this.check.confirmation(this.dataSource, this.target, leases);
		if (confirmation == null) {
			Object result = commit.run();
			ended();
			return result;
		}
		try {
			confirmation.confirmAll();
		}
		catch (MutexException ex) {
			attempt(ex, this.target::rollback);
			attempt(ex, confirmation::end);
			ended();
			throw ex;
		}
		try {
			return commit.run();
		}
		finally {
			confirmation.end();
			ended();
		}
	}

	private void ended() {
		this.used = false;
		this.confirmed = false;
	}

	private List<Lease> fenced() {
		return FenceCheck.fenced((Thread.currentThread() == this.owner) ? Leases.all() : this.obtainedUnder);
	}

	private MutexException refusal(String reason) {
		String key = fenced().get(0).key();
		return new MutexException(key,
				"key '" + key + "': " + reason + "; use a transaction of Spring, or setAutoCommit(false) and commit()");
	}

	private static void attempt(Throwable failure, Cleanup cleanup) {
		try {
			cleanup.run();
		}
		catch (SQLException | RuntimeException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Does what was asked for.
	 */
	@FunctionalInterface
	interface Execution {

		@Nullable Object run() throws Throwable;

	}

	@FunctionalInterface
	private interface Cleanup {

		void run() throws SQLException;

	}

}
