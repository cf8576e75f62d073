package io.mutex.sample;

import java.util.List;

import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;

/**
 * Starts the real servers of a profile, and tells the sample where they are.
 */
final class Store {

	private Store() {
	}

	/**
	 * Starts the servers of a profile, which end with this JVM.
	 * @param profile {@code file}, {@code jdbc} or {@code redis}
	 * @return the arguments with which the sample finds them
	 */
	static List<String> start(String profile) {
		return switch (profile) {
			case "file" -> List.of();
			case "jdbc" -> List.of(database());
			case "redis" -> {
				TestServer server = TestServers.redis();
				yield List.of(database(), "--spring.data.redis.host=" + server.host(),
						"--spring.data.redis.port=" + server.port());
			}
			default -> throw new IllegalArgumentException(
					"the sample has the profiles file, jdbc and redis, but not '" + profile + "'");
		};
	}

	private static String database() {
		return "--spring.datasource.url=" + TestServers.postgres().jdbcUrl();
	}

}
