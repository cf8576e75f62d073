package io.mutex.testing;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TestServers}.
 */
class TestServersTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	@Test
	void postgresAnswers() throws Exception {
		assertThat(query(TestServers.postgres().jdbcUrl(), "SELECT version()")).startsWith("PostgreSQL");
		assertThat(query(TestServers.postgres().newDatabase(), "SELECT current_database()")).startsWith("mutex_");
	}

	@Test
	void mariaDbAnswers() throws Exception {
		assertThat(query(TestServers.mariadb().jdbcUrl(), "SELECT version()")).contains("MariaDB");
		assertThat(query(TestServers.mariadb().newDatabase(), "SELECT database()")).startsWith("mutex_");
	}

	@Test
	void redisAnswers() throws Exception {
		assertThat(redis(TestServers.redis(), "ECHO hello")).contains("hello");
	}

	@Test
	void sharedServersAreStartedOnce() {
		assertThat(TestServers.redis()).isSameAs(TestServers.redis());
	}

	@Test
	void connectionsAreNotGivenThePortOfAServer() {
		try (TestServer server = TestServers.newRedis()) {
			// where the ports begin that Linux gives to outgoing connections
			assertThat(server.port()).isLessThan(32_768);
		}
	}

	@Test
	void childFindsTheSharedServersOfItsParent() {
		TestServers.redis();
		try (JavaProcess child = JavaProcess.start(Child.class)) {
			assertThat(child.awaitLine("port", TIMEOUT)).isEqualTo("port " + TestServers.redis().port());
		}
	}

	@Test
	void redisKeepsItsDataWhenKilled() throws Exception {
		try (TestServer server = TestServers.newRedis()) {
			redis(server, "SET a survived");
			server.kill();
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> redis(server, "GET a"));
			server.start();
			assertThat(redis(server, "GET a")).contains("survived");
		}
	}

	@Test
	void redisForgetsItsDataWhenToldTo() throws Exception {
		try (TestServer server = TestServers.newRedis("--appendonly", "no")) {
			redis(server, "SET a survived");
			server.restart();
			assertThat(redis(server, "GET a")).contains("$-1");
		}
	}

	@Test
	void postgresKeepsItsDataWhenKilledAndRestarted() throws Exception {
		try (TestServer server = TestServers.newPostgres()) {
			keepsItsData(server);
		}
	}

	@Test
	void mariaDbKeepsItsDataWhenKilledAndRestarted() throws Exception {
		try (TestServer server = TestServers.newMariaDb()) {
			keepsItsData(server);
		}
	}

	private void keepsItsData(TestServer server) throws Exception {
		ServerProgram.execute(server.jdbcUrl(), "CREATE TABLE t (a INT)");
		ServerProgram.execute(server.jdbcUrl(), "INSERT INTO t VALUES (42)");
		server.kill();
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> query(server.jdbcUrl(), "SELECT COUNT(*) FROM t"));
		server.start();
		server.restart();
		assertThat(query(server.jdbcUrl(), "SELECT a FROM t")).isEqualTo("42");
		try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
				Statement statement = connection.createStatement()) {
			connection.setNetworkTimeout(Runnable::run, 300);
			server.pause();
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> statement.executeQuery("SELECT a FROM t"));
			server.resume();
		}
		assertThat(query(server.jdbcUrl(), "SELECT a FROM t")).isEqualTo("42");
	}

	private static String query(String url, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getString(1);
		}
	}

	private static String redis(TestServer server, String command) throws IOException {
		try (Socket socket = new Socket(server.host(), server.port())) {
			socket.getOutputStream().write((command + "\r\nQUIT\r\n").getBytes(StandardCharsets.UTF_8));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	static final class Child {

		private Child() {
		}

		public static void main(String[] args) {
			System.out.println("port " + TestServers.redis().port());
		}

	}

}
