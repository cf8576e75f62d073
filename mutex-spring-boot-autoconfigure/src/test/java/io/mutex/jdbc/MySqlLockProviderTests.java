package io.mutex.jdbc;

import io.mutex.RestartableStore;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;

/**
 * The JDBC provider with the SQL and the driver of MySQL under the contract. The server
 * is MariaDB: no MySQL server is part of these tests.
 */
class MySqlLockProviderTests extends JdbcContract {

	MySqlLockProviderTests() {
		super(JdbcPlatform.MYSQL);
	}

	@Override
	protected RestartableStore startRestartableStore() {
		TestServer server = TestServers.newMariaDb();
		return Restartable.on(server, TestDatabase.mySqlUrl(server.jdbcUrl()));
	}

}
