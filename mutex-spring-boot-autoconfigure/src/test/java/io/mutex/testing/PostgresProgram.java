package io.mutex.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL. It refuses to run as root, so root runs it as somebody else.
 */
final class PostgresProgram implements ServerProgram {

	private static final String ARCHIVE = "postgres-linux-x86_64.txz";

	private static final String PRIMARY = "primary_conninfo=";

	private final List<String> settings;

	private final @Nullable ServerProcess original;

	PostgresProgram(List<String> settings) {
		this(settings, null);
	}

	/**
	 * A server that begins with the data of another one.
	 * @param settings more settings; one that names a primary makes it a standby
	 * @param original the other one, or {@code null}
	 */
	PostgresProgram(List<String> settings, @Nullable ServerProcess original) {
		this.settings = settings;
		this.original = original;
	}

	@Override
	public void initialize(Path directory) throws IOException {
		Path data = Files.createDirectory(directory.resolve("data"));
		if (this.original != null) {
			copy(this.original, data);
			return;
		}
		List<String> prefix = Unprivileged.prefix(directory, data);
		ServerProgram.run(directory, join(prefix, List.of(program("initdb"), "--pgdata=" + data, "--username=postgres",
				"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")));
	}

	private void copy(ServerProcess original, Path data) throws IOException {
		original.stop();
		try {
			ServerProgram.run(data.getParent(),
					List.of("cp", "-a", original.directory().resolve("data") + "/.", data.toString()));
		}
		finally {
			original.start();
		}
		if (this.settings.stream().anyMatch((setting) -> setting.startsWith(PRIMARY))) {
			Files.createFile(data.resolve("standby.signal"));
		}
	}

	@Override
	public List<String> command(Path directory, int port) throws IOException {
		Path data = directory.resolve("data");
		Files.deleteIfExists(data.resolve("postmaster.pid"));
		List<String> command = join(Unprivileged.prefix(directory, data),
				List.of(program("postgres"), "-D", data.toString(), "-p", Integer.toString(port), "-c",
						"listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200",
						"-c", "fsync=off"));
		this.settings.forEach((setting) -> command.addAll(List.of("-c", setting)));
		return command;
	}

	@Override
	public ServerAddress address(int port) {
		return ServerAddress
			.ofJdbcUrl("jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&password=postgres");
	}

	@Override
	public void check(ServerAddress address) throws Exception {
		ServerProgram.execute(address.jdbcUrl(), "SELECT 1");
	}

	@Override
	public String stopSignal() {
		return "INT";
	}

	private static String program(String name) throws IOException {
		Path home = ServerFiles.unpack(ARCHIVE, (jar, directory) -> ServerFiles.untar(jar, ARCHIVE, directory));
		return home.resolve("bin").resolve(name).toString();
	}

	private static List<String> join(List<String> prefix, List<String> command) {
		List<String> joined = new ArrayList<>(prefix);
		joined.addAll(command);
		return joined;
	}

}
