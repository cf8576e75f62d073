package io.mutex.testing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * A server that tests use. One that was started for them can also be stopped, killed,
 * paused and started again, on the same port and with the same data.
 */
public final class TestServer implements AutoCloseable {

	private static final AtomicInteger databases = new AtomicInteger();

	private final ServerAddress address;

	private final @Nullable ServerProcess process;

	private TestServer(ServerAddress address, @Nullable ServerProcess process) {
		this.address = address;
		this.process = process;
	}

	static TestServer external(ServerAddress address) {
		return new TestServer(address, null);
	}

	static TestServer start(ServerProgram program) {
		ServerProcess process = ServerProcess.start(program);
		return new TestServer(process.address(), process);
	}

	public String host() {
		return this.address.host();
	}

	public int port() {
		return this.address.port();
	}

	/**
	 * The JDBC URL, with the user and the password among its parameters.
	 * @return the URL, empty for Redis
	 */
	public String jdbcUrl() {
		return this.address.jdbcUrl();
	}

	public String user() {
		return this.address.user();
	}

	public String password() {
		return this.address.password();
	}

	/**
	 * Creates an empty database that no other test uses.
	 * @return its JDBC URL, with the user and the password among its parameters
	 */
	public String newDatabase() {
		String name = "mutex_" + ProcessHandle.current().pid() + "_" + databases.incrementAndGet();
		try {
			ServerProgram.execute(jdbcUrl(), "CREATE DATABASE " + name);
		}
		catch (Exception ex) {
			throw new IllegalStateException("Failed to create a database", ex);
		}
		return this.address.withDatabase(name).jdbcUrl();
	}

	/**
	 * Starts another PostgreSQL with a copy of the data of this one, which is stopped in
	 * good order for that and started again.
	 * @param settings more settings; with {@code primary_conninfo} it is a standby
	 * @return the other server, to be closed
	 */
	public TestServer copy(String... settings) {
		return start(new PostgresProgram(List.of(settings), process()));
	}

	/**
	 * The processes of the server.
	 * @return their ids, the one that has started the others first
	 */
	public List<Long> pids() {
		return process().pids();
	}

	/**
	 * Starts the server, which was stopped or killed, and returns when it is ready.
	 */
	public void start() {
		process().start();
	}

	/**
	 * Stops the server in good order and starts it again.
	 */
	public void restart() {
		stop();
		start();
	}

	/**
	 * Asks the server to end and returns when it has.
	 */
	public void stop() {
		process().stop();
	}

	/**
	 * Kills the server and all its processes ({@code kill -9}).
	 */
	public void kill() {
		process().kill();
	}

	/**
	 * Stops the server and all its processes from running ({@code kill -STOP}):
	 * connections stay open and nobody answers.
	 */
	public void pause() {
		process().pause();
	}

	/**
	 * Lets the server run on after {@link #pause()}.
	 */
	public void resume() {
		process().resume();
	}

	/**
	 * Ends the server and deletes its data.
	 */
	@Override
	public void close() {
		if (this.process != null) {
			this.process.close();
		}
	}

	private ServerProcess process() {
		if (this.process == null) {
			throw new UnsupportedOperationException("The server was not started by the tests");
		}
		return this.process;
	}

}
