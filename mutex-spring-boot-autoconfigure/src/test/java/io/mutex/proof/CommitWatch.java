package io.mutex.proof;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Gives connections whose commits a test can meddle with.
 */
final class CommitWatch extends DelegatingDataSource {

	private final Runnable before;

	private final Runnable after;

	CommitWatch(DataSource target, Runnable before, Runnable after) {
		super(target);
		this.before = before;
		this.after = after;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					boolean commits = "commit".equals(method.getName());
					if (commits) {
						this.before.run();
					}
					try {
						Object result = method.invoke(connection, arguments);
						if (commits) {
							this.after.run();
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
