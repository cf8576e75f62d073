package io.mutex.transaction;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Statement;

import org.jspecify.annotations.Nullable;

/**
 * A statement of a connection that is confirmed before it commits.
 */
final class GuardedStatement extends Delegate {

	private final Statement target;

	private final @Nullable String sql;

	private final GuardedConnection connection;

	private GuardedStatement(Statement target, @Nullable String sql, GuardedConnection connection) {
		super(target);
		this.target = target;
		this.sql = sql;
		this.connection = connection;
	}

	static Object of(Statement target, Class<?> type, @Nullable String sql, GuardedConnection connection) {
		return Proxy.newProxyInstance(GuardedStatement.class.getClassLoader(), new Class<?>[] { type },
				new GuardedStatement(target, sql, connection));
	}

	@Override
	@Nullable Object call(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		return switch (method.getName()) {
			case "getConnection" -> this.connection.proxy();
			case "execute", "executeQuery", "executeUpdate",
					"executeLargeUpdate" ->
				this.connection.execute(this.target,
						(args != null && args.length > 0 && args[0] instanceof String text) ? text : this.sql,
						() -> proceed(method, args));
			case "executeBatch", "executeLargeBatch" ->
				this.connection.execute(this.target, null, () -> proceed(method, args));
			default -> proceed(method, args);
		};
	}

}
