package io.mutex.jdbc;

import java.time.Duration;
import java.util.List;

import io.mutex.LockProvider;
import io.mutex.LockProviderContractTests;
import io.mutex.ProviderFactory;
import io.mutex.RestartableStore;
import io.mutex.testing.TestServer;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The contract for one database.
 */
abstract class JdbcContract extends LockProviderContractTests {

	private final JdbcPlatform platform;

	private @Nullable TestDatabase database;

	JdbcContract(JdbcPlatform platform) {
		this.platform = platform;
	}

	final TestDatabase database() {
		if (this.database == null) {
			this.database = TestDatabase.of(this.platform);
		}
		return this.database;
	}

	@Override
	protected LockProvider createProvider(String namespace) {
		return open(database().url(), namespace);
	}

	@Override
	protected boolean letPass(String namespace, Duration time) throws Exception {
		database().letPass(namespace, time);
		return true;
	}

	@Override
	protected ProviderFactory.@Nullable Spec otherProcess() {
		return ProviderFactory.Spec.of(Factory.class, database().remoteUrl());
	}

	@Override
	protected @Nullable RestartableStore startRestartableStore() throws Exception {
		return null;
	}

	private static LockProvider open(String url, String namespace) {
		JdbcSettings settings = JdbcSettings.defaults()
			.withPoolSize(4)
			.withTimeouts(Duration.ofSeconds(2), Duration.ofSeconds(20));
		return new JdbcLockProvider(new DriverManagerDataSource(url), namespace, settings);
	}

	/**
	 * Opens a provider in another process.
	 */
	public static final class Factory implements ProviderFactory {

		@Override
		public LockProvider create(String namespace, List<String> arguments) {
			return open(arguments.get(0), namespace);
		}

	}

	/**
	 * A server of its own.
	 *
	 * @param server the server
	 * @param url the JDBC URL of its database
	 */
	record Restartable(TestServer server, String url) implements RestartableStore {

		static Restartable on(TestServer server, String url) {
			JdbcSchema.create(new DriverManagerDataSource(url), JdbcSettings.defaults());
			return new Restartable(server, url);
		}

		@Override
		public LockProvider open(String namespace) {
			return JdbcContract.open(this.url, namespace);
		}

		@Override
		public void restart() {
			this.server.restart();
		}

		@Override
		public void close() {
			this.server.close();
		}

	}

}
