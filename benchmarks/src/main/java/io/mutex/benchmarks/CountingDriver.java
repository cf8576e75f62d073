package io.mutex.benchmarks;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Opens connections that count the statements which are sent over them. Questions of a
 * pool whether a connection lives still are counted apart.
 */
final class CountingDriver extends DriverManagerDataSource {

	private final AtomicLong statements = new AtomicLong();

	private final AtomicLong validations = new AtomicLong();

	CountingDriver(String url) {
		super(url);
	}

	long statements() {
		return this.statements.get();
	}

	long validations() {
		return this.validations.get();
	}

	@Override
	protected Connection getConnectionFromDriverManager(String url, Properties properties) throws SQLException {
		return counted(Connection.class, super.getConnectionFromDriverManager(url, properties));
	}

	private <T> T counted(Class<T> type, Object target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (target instanceof Statement && method.getName().startsWith("execute")) {
					this.statements.incrementAndGet();
				}
				if (method.getName().equals("isValid")) {
					this.validations.incrementAndGet();
				}
				try {
					Object result = method.invoke(target, arguments);
					if (result instanceof CallableStatement || !(target instanceof Connection)) {
						return result;
					}
					if (result instanceof PreparedStatement) {
						return counted(PreparedStatement.class, result);
					}
					return (result instanceof Statement) ? counted(Statement.class, result) : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

}
