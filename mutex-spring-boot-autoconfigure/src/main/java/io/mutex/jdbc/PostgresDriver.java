package io.mutex.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * What PostgreSQL's own driver can do beyond JDBC. It is called by reflection, as an
 * application may have none.
 */
final class PostgresDriver {

	private static final @Nullable ClassLoader loader = PostgresDriver.class.getClassLoader();

	private static final String STATEMENT = "org.postgresql.PGStatement";

	private PostgresDriver() {
	}

	/**
	 * Keeps the server from keeping the plan of a statement, which was good for the size
	 * that a table had when it was made.
	 * @param statement the statement, of any driver
	 * @throws SQLException if the driver refuses
	 */
	static void planEachTime(PreparedStatement statement) throws SQLException {
		if (!ClassUtils.isPresent(STATEMENT, loader)) {
			return;
		}
		Class<?> type = ClassUtils.resolveClassName(STATEMENT, loader);
		if (statement.isWrapperFor(type)) {
			call(ClassUtils.getMethod(type, "setPrepareThreshold", int.class), statement.unwrap(type), 0);
		}
	}

	static @Nullable Object call(Method method, Object target, Object... arguments) throws SQLException {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			if (ex.getCause() instanceof SQLException cause) {
				throw cause;
			}
			throw new IllegalStateException(ex);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
