package io.mutex.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;

import javax.sql.DataSource;

import io.mutex.StoreSetupException;

/**
 * The tables of the JDBC provider.
 */
public final class JdbcSchema {

	// instances that start at the same moment may get into each other's way
	private static final int TRIES = 3;

	private JdbcSchema() {
	}

	/**
	 * The statements that create the tables, ready for a migration. They leave alone what
	 * is there already.
	 * @param platform the database
	 * @param settings the table prefix and the schema
	 * @return the DDL, each statement ended by a semicolon
	 */
	public static String ddl(JdbcPlatform platform, JdbcSettings settings) {
		String resource = "schema-" + platform.id() + ".sql";
		try (InputStream script = JdbcSchema.class.getResourceAsStream(resource)) {
			if (script == null) {
				throw new IllegalStateException("resource io/mutex/jdbc/" + resource + " is missing");
			}
			String schema = settings.schema();
			return new String(script.readAllBytes(), StandardCharsets.UTF_8)
				.replace("@@schema@@", (schema != null) ? schema + "." : "")
				.replace("@@prefix@@", settings.tablePrefix());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Creates the tables that are not there yet.
	 * @param dataSource the database
	 * @param settings the table prefix, the schema and, if it is not to be asked for, the
	 * platform
	 * @throws StoreSetupException if a table could not be created
	 */
	public static void create(DataSource dataSource, JdbcSettings settings) {
		for (int attempt = 1;; attempt++) {
			try (Connection connection = dataSource.getConnection()) {
				execute(connection, ddl(platform(connection, settings), settings));
				return;
			}
			catch (SQLException ex) {
				if (attempt == TRIES) {
					throw new StoreSetupException(
							"The jdbc provider could not create its tables: " + ex.getMessage() + ".",
							"Give the database user the right to create tables, or set"
									+ " mutex.jdbc.initialize-schema=never and create them by a migration.",
							ex);
				}
			}
		}
	}

	// the configured platform, else by the product name that the driver reports
	static JdbcPlatform platform(Connection connection, JdbcSettings settings) throws SQLException {
		JdbcPlatform configured = settings.platform();
		return (configured != null) ? configured : JdbcPlatform.of(connection.getMetaData().getDatabaseProductName());
	}

	private static void execute(Connection connection, String ddl) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			for (String sql : statements(ddl)) {
				statement.execute(sql);
			}
		}
		if (!connection.getAutoCommit()) {
			connection.commit();
		}
	}

	private static List<String> statements(String ddl) {
		return Arrays.stream(ddl.split(";")).map(String::strip).filter((sql) -> !sql.isEmpty()).toList();
	}

}
