package io.mutex.jdbc;

import io.mutex.RestartableStore;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;

/**
 * The JDBC provider on MariaDB under the contract.
 */
class MariaDbLockProviderTests extends JdbcContract {

	MariaDbLockProviderTests() {
		super(JdbcPlatform.MARIADB);
	}

	@Override
	protected RestartableStore startRestartableStore() {
		TestServer server = TestServers.newMariaDb();
		return Restartable.on(server, server.jdbcUrl());
	}

}
