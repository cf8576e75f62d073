package io.mutex.jdbc;

import java.nio.file.Path;

import io.mutex.LockProvider;
import io.mutex.RestartableStore;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The JDBC provider on H2 under the contract.
 */
class H2LockProviderTests extends JdbcContract {

	H2LockProviderTests() {
		super(JdbcPlatform.H2);
	}

	@TempDir
	static Path directory;

	// a database in a file ends with its last connection
	@Override
	protected RestartableStore startRestartableStore() {
		String url = "jdbc:h2:file:" + directory.resolve("mutex");
		JdbcSchema.create(new DriverManagerDataSource(url), JdbcSettings.defaults());
		return new RestartableStore() {

			@Override
			public LockProvider open(String namespace) {
				return new JdbcLockProvider(new DriverManagerDataSource(url), namespace, JdbcSettings.defaults());
			}

			@Override
			public void restart() {
				// its only provider was closed
			}

		};
	}

}
