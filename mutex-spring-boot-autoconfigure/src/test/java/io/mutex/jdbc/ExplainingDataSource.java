package io.mutex.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Has the database explain each statement, with its parameters, before it is executed.
 */
final class ExplainingDataSource extends AbstractDataSource {

	/** The plans so far, one text for each statement. */
	final List<String> plans = new CopyOnWriteArrayList<>();

	private final DataSource dataSource;

	ExplainingDataSource(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = this.dataSource.getConnection();
		return proxy(Connection.class, (self, method, arguments) -> {
			Object result = call(() -> method.invoke(connection, arguments));
			if (method.getName().equals("prepareStatement") && isExplained((String) arguments[0])) {
				return explaining(connection.prepareStatement("EXPLAIN " + arguments[0]), (PreparedStatement) result);
			}
			return result;
		});
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		return getConnection();
	}

	private static boolean isExplained(String sql) {
		return !sql.startsWith("BEGIN") && !sql.startsWith("SET");
	}

	private PreparedStatement explaining(PreparedStatement explain, PreparedStatement statement) {
		return proxy(PreparedStatement.class, (self, method, arguments) -> {
			if (method.getName().startsWith("set") && arguments.length == 2) {
				call(() -> method.invoke(explain, arguments));
			}
			if (method.getName().startsWith("execute")) {
				this.plans.add(plan(explain));
			}
			if (method.getName().equals("close")) {
				explain.close();
			}
			return call(() -> method.invoke(statement, arguments));
		});
	}

	private static String plan(PreparedStatement explain) throws SQLException {
		StringBuilder plan = new StringBuilder();
		try (ResultSet rows = explain.executeQuery()) {
			while (rows.next()) {
				for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
					plan.append(rows.getString(i)).append(' ');
				}
				plan.append('\n');
			}
		}
		return plan.toString();
	}

	private static Object call(Reflective call) throws Throwable {
		try {
			return call.invoke();
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	@FunctionalInterface
	private interface Reflective {

		Object invoke() throws Exception;

	}

}
