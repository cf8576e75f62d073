package io.mutex.proof;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Counts the statements that an application sends, without those that begin and end its
 * transactions.
 */
final class StatementCount extends DelegatingDataSource {

	private final AtomicInteger count = new AtomicInteger();

	StatementCount(DataSource target) {
		super(target);
	}

	int count() {
		return this.count.get();
	}

	@Override
	public Connection getConnection() throws SQLException {
		return (Connection) watched(Connection.class, super.getConnection());
	}

	private Object watched(Class<?> type, Object target) {
		return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> {
					if (target instanceof Statement && method.getName().startsWith("execute")) {
						this.count.incrementAndGet();
					}
					try {
						Object result = method.invoke(target, arguments);
						if (result instanceof PreparedStatement && !(result instanceof CallableStatement)) {
							return watched(PreparedStatement.class, result);
						}
						return (result instanceof Statement && target instanceof Connection)
								? watched(Statement.class, result) : result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
