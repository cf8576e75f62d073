package io.mutex.benchmarks;

import io.mutex.jdbc.JdbcSchema;
import io.mutex.jdbc.JdbcSettings;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The servers of one run, each started when it is first asked for. The databases flush
 * every commit to the disk, as they do unless told otherwise; Redis keeps its data in
 * memory alone.
 */
final class Servers implements AutoCloseable {

	private @Nullable TestServer redis;

	private @Nullable TestServer postgres;

	private @Nullable TestServer mariaDb;

	TestServer redis() {
		if (this.redis == null) {
			this.redis = TestServers.newRedis("--appendonly", "no");
		}
		return this.redis;
	}

	TestServer postgres() {
		if (this.postgres == null) {
			this.postgres = TestServers.newPostgres("fsync=on");
		}
		return this.postgres;
	}

	TestServer mariaDb() {
		if (this.mariaDb == null) {
			this.mariaDb = TestServers.newMariaDb("--innodb-flush-log-at-trx-commit=1");
		}
		return this.mariaDb;
	}

	/**
	 * Makes a database with the tables of the locks.
	 * @param server where
	 * @return its URL
	 */
	static String newDatabase(TestServer server) {
		String url = server.newDatabase();
		JdbcSchema.create(new DriverManagerDataSource(url), JdbcSettings.defaults());
		return url;
	}

	@Override
	public void close() {
		for (TestServer server : new TestServer[] { this.redis, this.postgres, this.mariaDb }) {
			if (server != null) {
				server.close();
			}
		}
	}

}
