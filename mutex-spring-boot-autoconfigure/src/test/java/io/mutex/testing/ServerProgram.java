package io.mutex.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

/**
 * How one kind of server is started.
 */
interface ServerProgram {

	/**
	 * Prepares an empty directory, once.
	 * @param directory the directory of the server
	 * @throws IOException if that fails
	 */
	void initialize(Path directory) throws IOException;

	/**
	 * Tells the command, which must not put itself into the background.
	 * @param directory the directory of the server
	 * @param port the port to listen on
	 * @return the command
	 * @throws IOException if that fails
	 */
	List<String> command(Path directory, int port) throws IOException;

	ServerAddress address(int port);

	/**
	 * Does a round trip.
	 * @param address where the server listens
	 * @throws Exception if the server isn't ready
	 */
	void check(ServerAddress address) throws Exception;

	/**
	 * Called once after the first start.
	 * @param address where the server listens
	 * @throws Exception if that fails
	 */
	default void started(ServerAddress address) throws Exception {
	}

	/**
	 * The signal that asks for an orderly and quick end.
	 * @return the name of the signal
	 */
	default String stopSignal() {
		return "TERM";
	}

	static void run(Path directory, List<String> command) throws IOException {
		ServerProcess.runToEnd(directory.resolve("initialize.log"), command);
	}

	static void execute(String jdbcUrl, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(jdbcUrl)) {
			connection.createStatement().execute(sql);
		}
	}

}
