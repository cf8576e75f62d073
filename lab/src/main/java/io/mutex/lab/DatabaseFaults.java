package io.mutex.lab;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/**
 * What can happen to a database.
 */
final class DatabaseFaults {

	private static final long LEASE = Provider.LEASE.toMillis();

	private DatabaseFaults() {
	}

	static void kill(Field field) {
		field.fault("J4", field.server()::kill, 500, field.server()::start);
		field.sleep(LEASE);
	}

	static void endSessions(Field field) {
		field.fault("J5", () -> field.hit(Admin.endSessions(field.url())), 300, () -> {
		});
	}

	static void lockRows(Field field) {
		try (Connection connection = DriverManager.getConnection(field.url())) {
			connection.setAutoCommit(false);
			field.fault("J6", () -> execute(connection, "SELECT * FROM mutex_lock FOR UPDATE"), LEASE + 1000,
					() -> rollBack(connection));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void execute(Connection connection, String sql) {
		try {
			connection.createStatement().execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void rollBack(Connection connection) {
		try {
			connection.rollback();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	// what the failure leaves behind may not start again by itself
	static void failFlush(Field field) {
		Tracing[] tracing = new Tracing[1];
		field.fault("J3", () -> tracing[0] = Tracing.failFlushes(field.server().pids(), field.directory), 1000, () -> {
			tracing[0].close();
			field.hit(tracing[0].failed());
			field.server().kill();
			field.server().start();
		});
		field.sleep(LEASE);
	}

	static void fillDisk(Field field) {
		field.fault("J15", () -> field.hit((field.disk().fill() > 0) ? 1 : 0), 2 * LEASE, () -> field.disk().free());
	}

}
