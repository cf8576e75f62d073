package io.mutex.jdbc;

import io.mutex.StoreSetupException;

/**
 * Thrown when a table of the JDBC provider, or a column of it, is not there.
 */
public class MissingTableException extends StoreSetupException {

	private static final long serialVersionUID = 1L;

	private final String table;

	private final String ddl;

	MissingTableException(String table, String ddl, Throwable cause) {
		super("The jdbc provider cannot use table " + table + ": " + cause.getMessage() + ".",
				"Set mutex.jdbc.initialize-schema=always, or add these statements to your migrations:\n\n" + ddl,
				cause);
		this.table = table;
		this.ddl = ddl;
	}

	/**
	 * The name of the table as statements use it.
	 * @return the name with prefix and schema
	 */
	public String getTable() {
		return this.table;
	}

	/**
	 * The statements that create what is missing, ready for a migration.
	 * @return the DDL
	 */
	public String getDdl() {
		return this.ddl;
	}

}
