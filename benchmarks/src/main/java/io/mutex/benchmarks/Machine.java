package io.mutex.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import io.mutex.testing.TestServer;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What the figures depend on.
 */
final class Machine {

	private Machine() {
	}

	static String description() throws IOException {
		OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		return system.getAvailableProcessors() + " processors (" + processor() + "), "
				+ Math.round(system.getTotalMemorySize() / 1e9) + " GB of memory, " + System.getProperty("os.name")
				+ " " + System.getProperty("os.version") + ", loopback";
	}

	private static String processor() throws IOException {
		Path file = Path.of("/proc/cpuinfo");
		if (!Files.isReadable(file)) {
			return System.getProperty("os.arch");
		}
		try (Stream<String> lines = Files.lines(file)) {
			return lines.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.substring(line.indexOf(':') + 1).trim())
				.findFirst()
				.orElse(System.getProperty("os.arch"));
		}
	}

	static double load() {
		return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
	}

	static String versions(Servers servers) throws SQLException {
		return String.join(", ",
				List.of("JDK " + System.getProperty("java.version"), "PostgreSQL " + version(servers.postgres()),
						"MariaDB " + version(servers.mariaDb()), "Redis " + redisVersion(servers.redis())));
	}

	private static String version(TestServer server) throws SQLException {
		try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
			return connection.getMetaData().getDatabaseProductVersion();
		}
	}

	private static String redisVersion(TestServer server) {
		LettuceConnectionFactory connections = RedisStore.connections(server.host(), server.port());
		try (RedisConnection connection = connections.getConnection()) {
			java.util.Properties info = connection.serverCommands().info("server");
			return (info != null) ? info.getProperty("redis_version", "") : "";
		}
		finally {
			connections.destroy();
		}
	}

	/**
	 * The jars whose versions matter, as they stand on the class path.
	 * @return their names without the ending
	 */
	static String libraries() {
		return Stream.of(System.getProperty("java.class.path").split(":"))
			.map((entry) -> Path.of(entry).getFileName().toString())
			.filter((name) -> name.matches("(spring-boot-|lettuce-core-|postgresql-|mariadb-java-client-|HikariCP-"
					+ "|redisson-|shedlock-core-|spring-integration-core-|jmh-core-)[0-9].*\\.jar"))
			.map((name) -> name.substring(0, name.length() - ".jar".length()))
			.sorted()
			.reduce((one, other) -> one + ", " + other)
			.orElse("");
	}

}
