package io.mutex.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.mutex.testing.TestServer;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * What the administrator of a server can do to it.
 */
final class Admin {

	private static final String SESSIONS_OF_POSTGRESQL = "SELECT pid FROM pg_stat_activity"
			+ " WHERE datname = current_database() AND pid <> pg_backend_pid()";

	private static final String SESSIONS_OF_MARIADB = "SELECT id FROM information_schema.processlist"
			+ " WHERE db = database() AND id <> connection_id()";

	private Admin() {
	}

	static long endSessions(String url) {
		JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url));
		boolean mariaDb = url.startsWith("jdbc:mariadb:");
		List<Long> sessions = jdbc.queryForList(mariaDb ? SESSIONS_OF_MARIADB : SESSIONS_OF_POSTGRESQL, Long.class);
		long ended = 0;
		for (long session : sessions) {
			try {
				jdbc.execute((mariaDb ? "KILL " : "SELECT pg_terminate_backend(") + session + (mariaDb ? "" : ")"));
				ended++;
			}
			catch (DataAccessException ex) {
				// it has ended by itself
			}
		}
		return ended;
	}

	/**
	 * Sends one command.
	 * @param redis the server
	 * @param command the command, with blanks between its words
	 * @return the first line of the answer, or the text that it announces
	 */
	static String redis(TestServer redis, String command) {
		try (Socket socket = new Socket(redis.host(), redis.port())) {
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
			BufferedReader reader = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
			String line = reader.readLine();
			if (line == null || !line.startsWith("$")) {
				return String.valueOf(line);
			}
			char[] text = new char[Integer.parseInt(line.substring(1))];
			int read = 0;
			while (read < text.length) {
				read += reader.read(text, read, text.length - read);
			}
			return new String(text);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static long evicted(TestServer redis) {
		return redis(redis, "INFO stats").lines()
			.filter((line) -> line.startsWith("evicted_keys:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
			.sum();
	}

	/**
	 * How far the clock of the server is ahead of that of this process.
	 * @param field where the server is
	 * @return the time
	 */
	static Duration offset(Field field) {
		double seconds = switch (field.provider) {
			// a script, since the answer is a number then
			case REDIS -> Double.parseDouble(redis(field.server(), "EVAL \"return redis.call('TIME')[1]\" 0"));
			case POSTGRESQL -> number(field.url(), "SELECT extract(epoch FROM clock_timestamp())");
			default -> number(field.url(), "SELECT unix_timestamp(sysdate())");
		};
		return Duration.ofMillis((long) (1000 * seconds) - System.currentTimeMillis());
	}

	private static double number(String url, String sql) {
		return Objects
			.requireNonNull(new JdbcTemplate(new DriverManagerDataSource(url)).queryForObject(sql, Double.class));
	}

}
