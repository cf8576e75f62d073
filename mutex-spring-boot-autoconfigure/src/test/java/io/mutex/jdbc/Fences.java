package io.mutex.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.LockProvider.Grant;

/**
 * Fences of the tests in this package.
 */
final class Fences {

	private Fences() {
	}

	static Fence of(String resource, String key, long token) {
		return new Fence(resource, key, new FencingToken(token), newNonce(), true);
	}

	static Fence of(String resource, long token) {
		return of(resource, resource, token);
	}

	static Fence onWrite(String resource, long token) {
		return new Fence(resource, resource, new FencingToken(token), newNonce(), false);
	}

	static Fence of(Grant grant) {
		return new Fence(grant.key(), grant.key(), new FencingToken(grant.token()), grant.nonce(), true);
	}

	static String newNonce() {
		return UUID.randomUUID().toString().replace("-", "");
	}

	static String query(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getString(1);
		}
	}

}
