package io.mutex.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

import io.mutex.redis.RedisClient.Connections;
import io.mutex.testing.TestServer;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Connections of one instance that follow a failover: to whichever server a test says.
 */
final class Switch implements AutoCloseable {

	private final List<Connections> opened = new ArrayList<>();

	private volatile Connections current;

	Switch(TestServer server) {
		this.current = open(server);
	}

	RedisLockProvider provider(String namespace) {
		return new Connections(factory(), this::close).provider(namespace);
	}

	RedisConnectionFactory factory() {
		return (RedisConnectionFactory) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class }, (proxy, method, arguments) -> {
					try {
						return method.invoke(this.current.factory(), arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	void to(TestServer server) {
		this.current = open(server);
	}

	private Connections open(TestServer server) {
		Connections connections = RedisClient.JEDIS.connect(server);
		this.opened.add(connections);
		return connections;
	}

	@Override
	public void close() {
		this.opened.forEach(Connections::close);
	}

}
