package io.mutex.testing;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * Real servers on loopback ports: shared ones, started on first use and stopped with the
 * JVM, and private ones to break. An environment variable names a server to use in place
 * of a shared one; a {@link JavaProcess} finds those of its parent that way.
 */
public final class TestServers {

	/** A JDBC URL with {@code user} and {@code password} among its parameters. */
	static final String POSTGRES = "MUTEX_TEST_POSTGRES_URL";

	/** A JDBC URL with {@code user} and {@code password} among its parameters. */
	static final String MARIADB = "MUTEX_TEST_MARIADB_URL";

	/** Host and port with a colon between. */
	static final String REDIS = "MUTEX_TEST_REDIS";

	private static final Shared postgres = new Shared(POSTGRES, ServerAddress::ofJdbcUrl,
			new PostgresProgram(List.of()));

	private static final Shared mariaDb = new Shared(MARIADB, ServerAddress::ofJdbcUrl, new MariaDbProgram(List.of()));

	private static final Shared redis = new Shared(REDIS, ServerAddress::ofHostAndPort,
			new RedisProgram(List.of("--appendonly", "no")));

	private TestServers() {
	}

	public static TestServer postgres() {
		return postgres.get();
	}

	public static TestServer mariadb() {
		return mariaDb.get();
	}

	public static TestServer redis() {
		return redis.get();
	}

	/**
	 * Starts a PostgreSQL of the caller's own.
	 * @param settings more settings, such as {@code max_connections=5}
	 * @return the server, to be closed
	 */
	public static TestServer newPostgres(String... settings) {
		return start(new PostgresProgram(List.of(settings)));
	}

	/**
	 * Starts a MariaDB of the caller's own.
	 * @param options more options, such as {@code --max-connections=5}
	 * @return the server, to be closed
	 */
	public static TestServer newMariaDb(String... options) {
		return start(new MariaDbProgram(List.of(options)));
	}

	/**
	 * Starts a Redis of the caller's own, which logs its writes to a file.
	 * @param options more options, such as {@code "--appendonly", "no"} for one that
	 * forgets
	 * @return the server, to be closed
	 */
	public static TestServer newRedis(String... options) {
		return start(new RedisProgram(List.of(options)));
	}

	/**
	 * Starts a Redis of the caller's own, by another clock.
	 * @param clock its clock, or {@code null} for the true one
	 * @param options more options
	 * @return the server, to be closed
	 */
	public static TestServer newRedis(@Nullable ClockShim clock, String... options) {
		return start(new RedisProgram(List.of(options)), clock);
	}

	/**
	 * Starts a PostgreSQL of the caller's own, by another clock.
	 * @param clock its clock, or {@code null} for the true one
	 * @param settings more settings
	 * @return the server, to be closed
	 */
	public static TestServer newPostgres(@Nullable ClockShim clock, String... settings) {
		return start(new PostgresProgram(List.of(settings)), clock);
	}

	/**
	 * Starts a MariaDB of the caller's own, by another clock.
	 * @param clock its clock, or {@code null} for the true one
	 * @param options more options
	 * @return the server, to be closed
	 */
	public static TestServer newMariaDb(@Nullable ClockShim clock, String... options) {
		return start(new MariaDbProgram(List.of(options)), clock);
	}

	/**
	 * The environment in which another JVM finds the shared servers of this one.
	 * @return the variables of those that have been started
	 */
	static Map<String, String> environment() {
		Map<String, String> environment = new TreeMap<>();
		postgres.export(environment, TestServer::jdbcUrl);
		mariaDb.export(environment, TestServer::jdbcUrl);
		redis.export(environment, (server) -> server.host() + ":" + server.port());
		return environment;
	}

	private static TestServer start(ServerProgram program, @Nullable ClockShim clock) {
		return start((clock != null) ? clock.around(program) : program);
	}

	private static TestServer start(ServerProgram program) {
		String platform = (System.getProperty("os.name") + " " + System.getProperty("os.arch"))
			.toLowerCase(Locale.ROOT);
		if (!platform.equals("linux amd64") && !Boolean.parseBoolean(System.getenv("MUTEX_LAB_STRICT"))) {
			throw new TestAbortedException("No server is at hand for " + platform);
		}
		return TestServer.start(program);
	}

	/**
	 * A server that all tests of this JVM share.
	 */
	private static final class Shared {

		private final String variable;

		private final Function<String, ServerAddress> parser;

		private final ServerProgram program;

		private @Nullable TestServer server;

		private Shared(String variable, Function<String, ServerAddress> parser, ServerProgram program) {
			this.variable = variable;
			this.parser = parser;
			this.program = program;
		}

		private synchronized TestServer get() {
			if (this.server == null) {
				String value = System.getenv(this.variable);
				this.server = (value != null) ? TestServer.external(this.parser.apply(value)) : start(this.program);
			}
			return this.server;
		}

		private synchronized void export(Map<String, String> environment, Function<TestServer, String> format) {
			if (this.server != null) {
				environment.put(this.variable, format.apply(this.server));
			}
		}

	}

}
