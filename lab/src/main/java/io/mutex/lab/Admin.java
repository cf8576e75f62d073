package io.mutex.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

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

	static long flushScripts(TestServer redis) {
		try (Socket socket = new Socket(redis.host(), redis.port())) {
			socket.getOutputStream().write("SCRIPT FLUSH\r\n".getBytes(StandardCharsets.US_ASCII));
			String answer = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
				.readLine();
			return "+OK".equals(answer) ? 1 : 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
