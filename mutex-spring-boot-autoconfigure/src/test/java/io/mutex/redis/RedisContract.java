package io.mutex.redis;

import java.util.ArrayList;
import java.util.List;

import io.mutex.LockProvider;
import io.mutex.LockProviderContractTests;
import io.mutex.ProviderFactory;
import io.mutex.RestartableStore;
import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterAll;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * The Redis provider under the contract, with one of the client libraries.
 */
abstract class RedisContract extends LockProviderContractTests {

	private final RedisClient client;

	private final List<Connections> opened = new ArrayList<>();

	RedisContract(RedisClient client) {
		this.client = client;
	}

	@Override
	protected LockProvider createProvider(String namespace) {
		return open(TestServers.redis(), namespace);
	}

	private LockProvider open(TestServer server, String namespace) {
		return open(server, namespace, this.opened);
	}

	private LockProvider open(TestServer server, String namespace, List<Connections> opened) {
		Connections connections = this.client.connect(server);
		opened.add(connections);
		return connections.provider(namespace);
	}

	@Override
	protected ProviderFactory.Spec otherProcess() {
		TestServer server = TestServers.redis();
		return ProviderFactory.Spec.of(Factory.class, this.client.name(), server.host(),
				Integer.toString(server.port()));
	}

	@Override
	protected RestartableStore startRestartableStore() {
		TestServer server = TestServers.newRedis();
		List<Connections> connections = new ArrayList<>();
		return new RestartableStore() {

			@Override
			public LockProvider open(String namespace) {
				return RedisContract.this.open(server, namespace, connections);
			}

			@Override
			public void restart() {
				server.restart();
			}

			@Override
			public void close() {
				connections.forEach(Connections::close);
				server.close();
			}

		};
	}

	@AfterAll
	void closeConnections() {
		this.opened.forEach(Connections::close);
	}

	/**
	 * Opens a provider in a child JVM.
	 */
	public static final class Factory implements ProviderFactory {

		@Override
		public LockProvider create(String namespace, List<String> arguments) {
			return RedisClient.valueOf(arguments.get(0))
				.connect(new RedisStandaloneConfiguration(arguments.get(1), Integer.parseInt(arguments.get(2))))
				.provider(namespace);
		}

	}

}
