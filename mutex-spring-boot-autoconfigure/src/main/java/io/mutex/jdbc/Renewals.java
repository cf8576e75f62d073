package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.protocol.Micros;

/**
 * Renews leases by one update for all of the same length, and asks which were renewed
 * only if not all of them were. If a row is locked, those that are not locked are renewed
 * without waiting.
 */
final class Renewals {

	private static final String OWNED = " FROM @@lock@@ WHERE namespace = ? AND slot = 0 AND expires_at > @@now@@"
			+ " AND (lock_key, nonce, token) IN (@@grants@@)";

	private final String namespace;

	private final String update;

	private final String owned;

	Renewals(JdbcPlatform platform, JdbcSettings settings, String namespace) {
		this.namespace = namespace;
		Sql sql = new Sql(platform, settings);
		this.update = sql.text("UPDATE @@lock@@ SET version = version + 1,"
				+ " expires_at = GREATEST(expires_at, @@now@@ + ?) WHERE namespace = ? AND slot = 0"
				+ " AND expires_at > @@now@@ AND (lock_key, nonce, token) IN (@@grants@@)");
		this.owned = sql.text("SELECT lock_key, nonce, token" + OWNED);
	}

	List<Renewal> renew(Connection connection, List<Grant> grants) throws SQLException {
		Map<Duration, List<Grant>> byLength = new LinkedHashMap<>();
		grants.forEach((grant) -> byLength.computeIfAbsent(grant.ttl(), (ttl) -> new ArrayList<>()).add(grant));
		Map<Id, Renewal> answers = new HashMap<>();
		for (List<Grant> batch : byLength.values()) {
			renew(connection, batch, answers);
		}
		return grants.stream().map((grant) -> answers.getOrDefault(Id.of(grant), Renewal.LOST)).toList();
	}

	private void renew(Connection connection, List<Grant> grants, Map<Id, Renewal> answers) throws SQLException {
		try {
			boolean all = update(connection, grants) == grants.size();
			for (Grant grant : all ? grants : owned(connection, this.owned, grants)) {
				answers.put(Id.of(grant), Renewal.RENEWED);
			}
		}
		catch (SQLException ex) {
			if (Failure.of(ex) != Failure.LOCK_TIMEOUT) {
				throw ex;
			}
			owned(connection, this.owned, grants).forEach((grant) -> answers.put(Id.of(grant), Renewal.BUSY));
			renewUnlocked(connection, grants).forEach((grant) -> answers.put(Id.of(grant), Renewal.RENEWED));
		}
	}

	private List<Grant> renewUnlocked(Connection connection, List<Grant> grants) throws SQLException {
		return Transactions.run(connection, () -> {
			List<Grant> free = owned(connection, this.owned + " FOR UPDATE SKIP LOCKED", grants);
			if (!free.isEmpty()) {
				update(connection, free);
			}
			return free;
		});
	}

	private int update(Connection connection, List<Grant> grants) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(withGrants(this.update, grants))) {
			Binder binder = new Binder(statement).number(Micros.of(grants.get(0).ttl())).text(this.namespace);
			bind(binder, grants);
			return statement.executeUpdate();
		}
	}

	private List<Grant> owned(Connection connection, String sql, List<Grant> grants) throws SQLException {
		Map<Id, Grant> asked = new HashMap<>();
		grants.forEach((grant) -> asked.put(Id.of(grant), grant));
		List<Grant> owned = new ArrayList<>();
		try (PreparedStatement statement = connection.prepareStatement(withGrants(sql, grants))) {
			bind(new Binder(statement).text(this.namespace), grants);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					Grant grant = asked.get(new Id(rows.getString(1), rows.getString(2), rows.getLong(3)));
					if (grant != null) {
						owned.add(grant);
					}
				}
			}
		}
		return owned;
	}

	private static void bind(Binder binder, List<Grant> grants) throws SQLException {
		for (Grant grant : grants) {
			binder.texts(grant.key(), grant.nonce()).number(grant.token());
		}
	}

	private static String withGrants(String sql, List<Grant> grants) {
		return sql.replace("@@grants@@", "(?, ?, ?)" + ", (?, ?, ?)".repeat(grants.size() - 1));
	}

	private record Id(String key, String nonce, long token) {

		static Id of(Grant grant) {
			return new Id(grant.key(), grant.nonce(), grant.token());
		}

	}

}
