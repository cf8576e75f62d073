package io.mutex.jdbc;

import io.mutex.RestartableStore;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;

/**
 * The JDBC provider on PostgreSQL under the contract.
 */
class PostgreSqlLockProviderTests extends JdbcContract {

	PostgreSqlLockProviderTests() {
		super(JdbcPlatform.POSTGRESQL);
	}

	@Override
	protected RestartableStore startRestartableStore() {
		TestServer server = TestServers.newPostgres();
		return Restartable.on(server, server.jdbcUrl());
	}

}
