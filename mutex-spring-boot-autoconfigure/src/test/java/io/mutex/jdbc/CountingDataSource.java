package io.mutex.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Lends one connection again and again, and keeps a list of what is sent over it, between
 * which something else can be done.
 */
final class CountingDataSource extends AbstractDataSource implements AutoCloseable {

	private final Connection connection;

	private final List<String> sent = new ArrayList<>();

	private Runnable between = () -> {
	};

	CountingDataSource(DataSource target) throws SQLException {
		this.connection = target.getConnection();
	}

	/**
	 * What was sent since this was asked for last.
	 * @return the statements, commits and changes of the connection
	 */
	List<String> sent() {
		List<String> copy = List.copyOf(this.sent);
		this.sent.clear();
		return copy;
	}

	/**
	 * Has something done before each statement, commit and change of the connection.
	 * @param action what to do
	 */
	void between(Runnable action) {
		this.between = action;
	}

	@Override
	public Connection getConnection() {
		return proxy(Connection.class, this.connection, "");
	}

	@Override
	public Connection getConnection(String username, String password) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void close() throws SQLException {
		this.connection.close();
	}

	private <T> T proxy(Class<T> type, Object target, String sql) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				String name = method.getName();
				if (target instanceof Connection && name.equals("close")) {
					return null;
				}
				if (name.startsWith("execute") || name.equals("commit") || name.equals("rollback")
						|| name.equals("setAutoCommit") || name.equals("setTransactionIsolation")) {
					this.between.run();
					this.sent.add(name + " " + ((arguments != null) ? arguments[0] : sql));
				}
				try {
					Object result = method.invoke(target, arguments);
					if (name.equals("unwrap")) {
						return result;
					}
					if (result instanceof PreparedStatement) {
						return proxy(PreparedStatement.class, result, (String) arguments[0]);
					}
					return (result instanceof Statement) ? proxy(Statement.class, result, "") : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
