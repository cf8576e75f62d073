package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An update of one row as a part of a transaction of the application, with the limits of
 * that transaction, in one round trip where the database allows it.
 */
final class TransactionUpdate {

	private static final String COMPOUND = "BEGIN NOT ATOMIC @@limits@@; @@update@@; SELECT ROW_COUNT(); END";

	private final JdbcPlatform platform;

	private final TransactionLimits limits;

	private final String update;

	// the update ends with its condition
	TransactionUpdate(JdbcPlatform platform, JdbcSettings settings, String update) {
		this.platform = platform;
		this.limits = new TransactionLimits(platform, settings);
		this.update = new Sql(platform, settings).text((platform != JdbcPlatform.POSTGRESQL) ? update : update + " AND "
				+ PostgresFastPath.LOCK_TIMEOUT + " IS NOT NULL RETURNING " + TransactionLimits.POSTGRES_IDLE);
	}

	// whether a row was changed, which must be one whatever it was before: the count is
	// of changed rows for some drivers
	boolean run(Connection connection, @Nullable Duration remaining, Parameters parameters) throws SQLException {
		return switch (this.platform) {
			case H2 -> update(connection, parameters);
			case POSTGRESQL -> query(connection, this.update, parameters.and(TransactionLimits.idleMillis(remaining)));
			case MARIADB -> query(connection, compound(remaining), parameters);
			case MYSQL -> {
				this.limits.apply(connection, remaining);
				yield update(connection, parameters);
			}
		};
	}

	private String compound(@Nullable Duration remaining) {
		String text = this.limits.text(remaining);
		return COMPOUND.replace("@@limits@@", (text != null) ? text : "").replace("@@update@@", this.update);
	}

	private boolean update(Connection connection, Parameters parameters) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.update)) {
			parameters.bind(new Binder(statement));
			return statement.executeUpdate() == 1;
		}
	}

	private boolean query(Connection connection, String sql, Parameters parameters) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			parameters.bind(new Binder(statement));
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() && (this.platform != JdbcPlatform.MARIADB || rows.getInt(1) == 1);
			}
		}
	}

	/**
	 * The parameters of the update.
	 */
	@FunctionalInterface
	interface Parameters {

		void bind(Binder binder) throws SQLException;

		default Parameters and(long last) {
			return (binder) -> {
				bind(binder);
				binder.number(last);
			};
		}

	}

}
