package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.mutex.AcquireRequest;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.protocol.Micros;
import io.mutex.protocol.Place;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * What a database can do in a single statement. Each operation may say that it did
 * nothing; then the rows are read, decided upon and written by {@link RowStore}.
 * <p>
 * This base knows the statements that every database has: the plain release, and the one
 * that gives a waiter the place of the next holder.
 */
class FastPath {

	static final String PLAIN_RELEASE = "UPDATE @@lock@@ SET version = version + 1, expires_at = 0"
			+ " WHERE namespace = ? AND lock_key = ? AND slot = 0 AND nonce = ? AND expires_at > 0"
			+ " AND (? = 0 OR unit IS NULL)";

	private static final String RESERVE = "UPDATE @@lock@@ SET version = version + 1, waiter = ?, waiter_until = ?"
			+ " WHERE namespace = ? AND lock_key = ? AND slot = 0 AND version = ?";

	private final String namespace;

	private final String release;

	private final String reserve;

	FastPath(Sql sql, String namespace) {
		this.namespace = namespace;
		this.release = sql.text(PLAIN_RELEASE);
		this.reserve = sql.text(RESERVE);
	}

	static FastPath of(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		Sql sql = new Sql(platform, settings);
		return switch (platform) {
			case POSTGRESQL -> new PostgresFastPath(sql, namespace);
			case MARIADB -> new MariaDbFastPath(sql, namespace);
			case H2, MYSQL -> new FastPath(sql, namespace);
		};
	}

	final String namespace() {
		return this.namespace;
	}

	// grants the key if the case is plain, and always says what it saw, or null if
	// nothing
	@Nullable Snapshot acquire(Connection connection, AcquireRequest request) throws SQLException {
		return null;
	}

	// releases a grant that leaves no doubt; if it was not released, nothing is known
	boolean release(Connection connection, String key, String nonce, boolean began) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.release)) {
			bindRelease(statement, key, nonce, began);
			return statement.executeUpdate() == 1;
		}
	}

	final void bindRelease(PreparedStatement statement, String key, String nonce, boolean began) throws SQLException {
		new Binder(statement).texts(this.namespace, key, nonce).number(began ? 1 : 0);
	}

	// stores the outcome of a unit and releases its grant; if not both are stored,
	// nothing is
	// known
	boolean settle(Connection connection, Grant grant, String unit, Outcome outcome) throws SQLException {
		return false;
	}

	// gives the place of the next holder away if the row is of that version
	boolean reserve(Connection connection, String key, long version, Place place) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.reserve)) {
			new Binder(statement).text(place.waiter()).number(place.until()).texts(this.namespace, key).number(version);
			return statement.executeUpdate() == 1;
		}
	}

	// tells a waiter that the key became free, where the database can; never fails, as it
	// may as well be lost
	void announce(Connection connection, String waiter, String key) {
	}

	// prolongs leases without waiting for locked rows; null if nothing was done
	@Nullable List<Renewal> renew(Connection connection, List<Grant> grants) throws SQLException {
		return null;
	}

	/**
	 * How a unit ended.
	 *
	 * @param status done or failed
	 * @param delay how long the next attempt has to wait
	 * @param error what failed, or null
	 */
	record Outcome(Status status, Duration delay, @Nullable String error) {

		static Outcome done() {
			return new Outcome(Status.DONE, Duration.ZERO, null);
		}

		static Outcome failed(Duration delay, String error) {
			return new Outcome(Status.FAILED, delay, error);
		}

		// the delay in microseconds, or -1 where there is no next attempt
		long delayMicros() {
			return (this.status == Status.DONE) ? -1 : Micros.of(this.delay);
		}

		String code() {
			return (this.status == Status.DONE) ? "D" : "F";
		}

	}

}
