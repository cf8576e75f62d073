package io.mutex.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Hears on a connection of its own that a key became free, by PostgreSQL's NOTIFY. Once
 * it listens it sends nothing. The driver is called by reflection, as an application may
 * have none.
 */
final class PostgresNotifications {

	/**
	 * Tells the waiter who has the place of the next holder of a row, if there is one.
	 */
	static final String NOTIFY = "CASE WHEN waiter_until > @@now@@"
			+ " THEN pg_notify('mutex_' || waiter, lock_key)::text END";

	/**
	 * Tells a waiter by itself.
	 */
	static final String ANNOUNCE = "SELECT pg_notify('mutex_' || ?, ?)";

	/** How late a closed provider or an interrupt may be noticed, in milliseconds. */
	private static final int BEAT = 250;

	private static final Pattern WAITER = Pattern.compile("[0-9a-zA-Z]{32}");

	private static final String DRIVER = "org.postgresql.PGConnection";

	private static final @Nullable ClassLoader loader = PostgresNotifications.class.getClassLoader();

	private PostgresNotifications() {
	}

	static boolean isFor(JdbcPlatform platform) {
		return platform == JdbcPlatform.POSTGRESQL && ClassUtils.isPresent(DRIVER, loader);
	}

	// whether the connection can do it; if so, returns when it was told to end
	static boolean listen(Connection connection, String waiter, Consumer<String> released, BooleanSupplier ended)
			throws SQLException, InterruptedException {
		if (!WAITER.matcher(waiter).matches()) {
			throw new IllegalArgumentException("a waiter has 32 letters and digits, but was '" + waiter + "'");
		}
		Class<?> driver = ClassUtils.resolveClassName(DRIVER, loader);
		if (!connection.isWrapperFor(driver)) {
			return false;
		}
		try (Statement statement = connection.createStatement()) {
			statement.execute("LISTEN \"mutex_" + waiter + "\"");
		}
		Object notified = connection.unwrap(driver);
		Method hear = ClassUtils.getMethod(driver, "getNotifications", int.class);
		Method key = ClassUtils.getMethod(hear.getReturnType().getComponentType(), "getParameter");
		while (!ended.getAsBoolean()) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			if (PostgresDriver.call(hear, notified, BEAT) instanceof Object[] notifications) {
				for (Object notification : notifications) {
					released.accept(String.valueOf(PostgresDriver.call(key, notification)));
				}
			}
		}
		return true;
	}

}
