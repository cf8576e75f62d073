package io.mutex.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import io.mutex.AcquireRequest;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.Place;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every operation of PostgreSQL as one statement.
 * <p>
 * A sub-select keeps the snapshot of its statement while an update waits for the row and
 * sees its new version. So the run record and the lock row are read in one snapshot, and
 * the write compares the version of that snapshot; without it, a unit runs twice. A
 * snapshot without a row gives it the version after its own time, and must not take the
 * row of somebody who began a microsecond earlier for its own.
 */
final class PostgresFastPath extends FastPath {

	/**
	 * Makes the commit of this transaction durable, also where the server or the role has
	 * switched that off.
	 */
	static final String DURABLE = "set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
			+ " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)";

	/**
	 * Limits the wait for a row, in this transaction only.
	 */
	static final String LOCK_TIMEOUT = "set_config('lock_timeout', '@@millis@@', true)";

	private static final String RELEASE = PLAIN_RELEASE + " AND " + LOCK_TIMEOUT + " IS NOT NULL RETURNING " + DURABLE;

	// the queue of the notifications is full
	private static final String QUEUE_FULL = "54000";

	private static final Logger logger = LoggerFactory.getLogger(PostgresFastPath.class);

	// a transaction of the application executes it as it is: a notification would keep it
	// from being prepared for a commit in two phases
	static final String SETTLE = "WITH released AS (UPDATE @@lock@@ SET version = version + 1, expires_at = 0"
			+ " WHERE namespace = ? AND lock_key = ? AND slot = 0 AND nonce = ? AND token = ? AND unit = ?"
			+ " AND expires_at > 0 AND " + LOCK_TIMEOUT + " IS NOT NULL"
			+ " RETURNING namespace, lock_key, unit, token, nonce, owner_info, attempt, acquired_at, kept_until, "
			+ DURABLE + ")"
			+ " INSERT INTO @@run@@ (namespace, lock_key, unit, status, token, nonce, owner_info, attempt, began_at,"
			+ " ended_at, not_before, error, kept_until) SELECT namespace, lock_key, unit, ?, token, nonce, owner_info, attempt,"
			+ " acquired_at, @@now@@, CASE WHEN ?::bigint < 0 THEN 0 ELSE @@now@@ + ?::bigint END, ?, kept_until FROM released"
			+ " ON CONFLICT (namespace, lock_key, unit) DO UPDATE SET status = excluded.status,"
			+ " token = excluded.token, nonce = excluded.nonce, owner_info = excluded.owner_info,"
			+ " attempt = excluded.attempt, began_at = excluded.began_at, ended_at = excluded.ended_at,"
			+ " not_before = excluded.not_before, error = excluded.error, kept_until = excluded.kept_until";

	// a locked row is about to change, and is not waited for
	private static final String RESERVE = "WITH seen AS MATERIALIZED (SELECT version FROM @@lock@@ WHERE namespace = ?"
			+ " AND lock_key = ? AND slot = 0 AND version = ? FOR UPDATE SKIP LOCKED)"
			+ " UPDATE @@lock@@ l SET version = l.version + 1, waiter = ?, waiter_until = ? FROM seen"
			+ " WHERE l.namespace = ? AND l.lock_key = ? AND l.slot = 0 AND l.version = seen.version";

	// the rows are locked without waiting: a locked row answers BUSY and delays no other.
	// The namespace is a column of what is asked for, not a constant: without statistics
	// a planner takes few rows to be of a namespace, and would look at all of them for
	// each key
	private static final String RENEW = "WITH asked AS MATERIALIZED (SELECT ?::text COLLATE \"C\" AS namespace,"
			+ " lock_key COLLATE \"C\" AS lock_key, nonce, token, ttl, position FROM unnest(?::text[], ?::text[],"
			+ " ?::bigint[], ?::bigint[]) WITH ORDINALITY AS a(lock_key, nonce, token, ttl, position)),"
			+ " held AS MATERIALIZED (SELECT l.namespace, l.lock_key, a.ttl, a.position FROM asked a JOIN @@lock@@ l"
			+ " ON l.namespace = a.namespace AND l.lock_key = a.lock_key AND l.slot = 0 WHERE l.nonce = a.nonce"
			+ " AND l.token = a.token AND l.expires_at > @@now@@ FOR UPDATE OF l SKIP LOCKED),"
			+ " renewed AS (UPDATE @@lock@@ l SET version = l.version + 1,"
			+ " expires_at = greatest(l.expires_at, @@now@@ + h.ttl) FROM held h WHERE l.namespace = h.namespace"
			+ " AND l.lock_key = h.lock_key AND l.slot = 0 RETURNING h.position)"
			+ " SELECT a.position, r.position IS NOT NULL, EXISTS (SELECT 1 FROM @@lock@@ l WHERE"
			+ " l.namespace = a.namespace AND l.lock_key = a.lock_key AND l.slot = 0 AND l.nonce = a.nonce"
			+ " AND l.token = a.token AND l.expires_at > @@now@@) FROM asked a"
			+ " LEFT JOIN renewed r ON r.position = a.position";

	private final String acquire;

	private final String acquireUnit;

	private final String release;

	private final String settle;

	private final String silentRelease;

	private final String silentSettle;

	private final String reserve;

	private final String renew;

	PostgresFastPath(Sql sql, String namespace) {
		super(sql, namespace);
		this.acquire = sql.text(acquireText(false));
		this.acquireUnit = sql.text(acquireText(true));
		this.release = sql.text(loud(RELEASE));
		this.settle = sql.text(loud(SETTLE));
		this.silentRelease = sql.text(RELEASE);
		this.silentSettle = sql.text(SETTLE);
		this.reserve = sql.text(RESERVE);
		this.renew = sql.text(RENEW);
	}

	private static String loud(String text) {
		return text.replace(DURABLE, DURABLE + ", " + PostgresNotifications.NOTIFY);
	}

	private static String acquireText(boolean unit) {
		String seen = unit
				? "r.unit AS r_unit, r.status, r.token AS r_token, r.nonce AS r_nonce, r.owner_info AS r_owner,"
						+ " r.attempt AS r_attempt, r.began_at, r.ended_at, r.not_before, r.error,"
						+ " r.kept_until AS r_kept"
				: "NULL AS r_unit, NULL AS status, NULL AS r_token, NULL AS r_nonce, NULL AS r_owner,"
						+ " NULL AS r_attempt, NULL AS began_at, NULL AS ended_at, NULL AS not_before, NULL AS error,"
						+ " NULL AS r_kept";
		String join = unit ? " LEFT JOIN @@run@@ r ON r.namespace = ? AND r.lock_key = ? AND r.unit = ?" : "";
		String attempt = unit ? "CASE WHEN c.status <> 'D' THEN c.r_attempt + 1 ELSE 1 END" : "0";
		String due = unit ? " AND (c.status IS DISTINCT FROM 'D' OR c.began_at <= c.now - ?) AND c.now >= ?"
				+ " AND (coalesce(c.status, 'D') = 'D' OR ? IN (0, c.r_attempt + 1) AND (? = 0"
				+ " OR c.not_before <= c.now))" : "";
		String kept = unit ? "greatest(?, c.now + ?)" : "0";
		String next = "greatest(coalesce(c.token, 0) + 1, c.now, ? + 1) + ? - 1";
		return "WITH c AS MATERIALIZED (SELECT @@now@@ AS now, " + Rows.qualified("l", Rows.LOCK_COLUMNS) + ", " + seen
				+ ", " + LOCK_TIMEOUT + " FROM (SELECT 1) o"
				+ " LEFT JOIN @@lock@@ l ON l.namespace = ? AND l.lock_key = ? AND l.slot = 0" + join + "),"
				+ " granted AS (INSERT INTO @@lock@@ AS l (namespace, lock_key, slot, " + Rows.LOCK_COLUMNS
				+ ") SELECT ?, ?, 0, coalesce(c.version, c.now) + 1, " + next + ", ?, ?, ?, ?, " + attempt
				+ ", c.now, c.now + ?, CASE WHEN c.buried_at > c.now - " + LockRow.TOMBSTONE_LIFETIME
				+ " THEN c.tombstones ELSE '' END, coalesce(c.buried_at, 0), " + kept + ", 0, ?, 0 FROM c"
				+ " WHERE coalesce(c.expires_at, 0) <= c.now AND (coalesce(c.expires_at, 0) = 0 OR c.unit IS NULL)"
				+ " AND coalesce(c.shared_until, 0) <= c.now"
				+ " AND (? = '' OR c.waiter = ? OR coalesce(c.waiter_until, 0) <= c.now)"
				+ " AND c.nonce IS DISTINCT FROM ? AND coalesce(position(? in c.tombstones), 0) = 0 AND " + next + " < "
				+ FencingToken.LIMIT + due
				+ " ON CONFLICT (namespace, lock_key, slot) DO UPDATE SET version = excluded.version,"
				+ " token = excluded.token, nonce = excluded.nonce, lock_name = excluded.lock_name,"
				+ " owner_info = excluded.owner_info, unit = excluded.unit, attempt = excluded.attempt,"
				+ " acquired_at = excluded.acquired_at, expires_at = excluded.expires_at,"
				+ " tombstones = excluded.tombstones, buried_at = excluded.buried_at,"
				+ " kept_until = excluded.kept_until, shared_until = 0,"
				+ " waiter_until = CASE WHEN l.waiter = excluded.waiter THEN 0 ELSE l.waiter_until END"
				+ " WHERE l.version = excluded.version - 1"
				+ " AND excluded.version <> excluded.acquired_at + 1 RETURNING l.token, " + DURABLE + ")"
				+ " SELECT c.*, granted.token AS granted FROM c LEFT JOIN granted ON true";
	}

	@Override
	Snapshot acquire(Connection connection, AcquireRequest request) throws SQLException {
		Conditions conditions = Conditions.of(request);
		boolean unit = conditions.unit() != null;
		try (PreparedStatement statement = connection.prepareStatement(unit ? this.acquireUnit : this.acquire)) {
			Binder binder = new Binder(statement).texts(namespace(), request.key());
			if (unit) {
				binder.texts(namespace(), request.key()).text(conditions.unit());
			}
			binder.texts(namespace(), request.key())
				.number(request.floor())
				.number(request.tokens())
				.text(request.nonce())
				.name(request.name())
				.text(request.owner().toText())
				.text(conditions.unit())
				.number(Micros.of(request.ttl()));
			if (unit) {
				binder.number(conditions.keptUntil()).number(conditions.keptFor());
			}
			binder.texts(conditions.waiter(), conditions.waiter(), conditions.waiter())
				.texts(request.nonce(), request.nonce())
				.number(request.floor())
				.number(request.tokens());
			if (unit) {
				binder.number(conditions.within())
					.number(conditions.earliest())
					.number(conditions.attempt())
					.number(conditions.attempt());
			}
			try (ResultSet rows = statement.executeQuery()) {
				rows.next();
				return new Snapshot(rows.getLong(1), Rows.lock(rows, 2), Rows.run(rows, 2 + Rows.LOCK_WIDTH),
						rows.getLong("granted") > 0);
			}
		}
	}

	@Override
	boolean release(Connection connection, String key, String nonce, boolean began) throws SQLException {
		return loudly(connection, this.release, this.silentRelease, (statement) -> {
			bindRelease(statement, key, nonce, began);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next();
			}
		});
	}

	@Override
	boolean settle(Connection connection, Grant grant, String unit, Outcome outcome) throws SQLException {
		return loudly(connection, this.settle, this.silentSettle, (statement) -> {
			new Binder(statement).texts(namespace(), grant.key(), grant.nonce())
				.number(grant.token())
				.texts(unit, outcome.code())
				.number(outcome.delayMicros())
				.number(outcome.delayMicros())
				.error(outcome.error());
			return statement.executeUpdate() == 1;
		});
	}

	// nothing is stored if the waiter could not be told, and so it is stored without
	private static boolean loudly(Connection connection, String loud, String silent, Update update)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(loud)) {
			return update.run(statement);
		}
		catch (SQLException ex) {
			if (!QUEUE_FULL.equals(ex.getSQLState())) {
				throw ex;
			}
		}
		try (PreparedStatement statement = connection.prepareStatement(silent)) {
			return update.run(statement);
		}
	}

	@Override
	void announce(Connection connection, String waiter, String key) {
		try (PreparedStatement statement = connection.prepareStatement(PostgresNotifications.ANNOUNCE)) {
			new Binder(statement).texts(waiter, key);
			statement.execute();
		}
		catch (SQLException ex) {
			logger.debug("The waiter for key={} was not told of its release", key, ex);
		}
	}

	@Override
	boolean reserve(Connection connection, String key, long version, Place place) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.reserve)) {
			new Binder(statement).texts(namespace(), key)
				.number(version)
				.text(place.waiter())
				.number(place.until())
				.texts(namespace(), key);
			return statement.executeUpdate() == 1;
		}
	}

	@Override
	List<Renewal> renew(Connection connection, List<Grant> grants) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.renew)) {
			PostgresDriver.planEachTime(statement);
			statement.setString(1, namespace());
			statement.setArray(2, array(connection, "text", grants, Grant::key));
			statement.setArray(3, array(connection, "text", grants, Grant::nonce));
			statement.setArray(4, array(connection, "bigint", grants, Grant::token));
			statement.setArray(5, array(connection, "bigint", grants, (grant) -> Micros.of(grant.ttl())));
			Renewal[] answers = new Renewal[grants.size()];
			Arrays.fill(answers, Renewal.BUSY);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					Renewal refused = rows.getBoolean(3) ? Renewal.BUSY : Renewal.LOST;
					answers[rows.getInt(1) - 1] = rows.getBoolean(2) ? Renewal.RENEWED : refused;
				}
			}
			return List.of(answers);
		}
	}

	private static Array array(Connection connection, String type, List<Grant> grants, Function<Grant, Object> value)
			throws SQLException {
		return connection.createArrayOf(type, grants.stream().map(value).toArray());
	}

	@FunctionalInterface
	private interface Update {

		boolean run(PreparedStatement statement) throws SQLException;

	}

}
