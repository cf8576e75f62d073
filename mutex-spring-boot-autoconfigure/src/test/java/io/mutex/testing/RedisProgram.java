package io.mutex.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Redis. It keeps what it has acknowledged, unless the options say otherwise.
 */
final class RedisProgram implements ServerProgram {

	private static final int TIMEOUT_MILLIS = 2000;

	private final List<String> options;

	RedisProgram(List<String> options) {
		this.options = options;
	}

	@Override
	public void initialize(Path directory) throws IOException {
		program();
	}

	@Override
	public List<String> command(Path directory, int port) throws IOException {
		// "everysec" puts writes off while the disk is busy, after they were answered
		List<String> command = new ArrayList<>();
		command.addAll(List.of(program(), "--port", Integer.toString(port), "--bind", "127.0.0.1", "--dir",
				directory.toString(), "--save", "", "--appendonly", "yes", "--appendfsync", "no", "--daemonize", "no"));
		command.addAll(this.options);
		return command;
	}

	@Override
	public ServerAddress address(int port) {
		return ServerAddress.ofHostAndPort("127.0.0.1:" + port);
	}

	@Override
	public void check(ServerAddress address) throws Exception {
		try (Socket socket = new Socket()) {
			socket.setSoTimeout(TIMEOUT_MILLIS);
			socket.connect(new InetSocketAddress(address.host(), address.port()), TIMEOUT_MILLIS);
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			String answer = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
				.readLine();
			if (!"+PONG".equals(answer)) {
				throw new IOException("The answer is " + answer);
			}
		}
	}

	private static String program() throws IOException {
		return ServerFiles.unpack("redis/embedded/RedisServer.class", RedisProgram::unpack)
			.resolve("redis-server")
			.toString();
	}

	private static void unpack(JarFile jar, Path directory) throws IOException {
		JarEntry entry = jar.stream()
			.filter((candidate) -> candidate.getName().matches("redis-server-.*-linux-amd64"))
			.findFirst()
			.orElseThrow();
		Path target = directory.resolve("redis-server");
		ServerFiles.copy(jar, entry, target);
		target.toFile().setExecutable(true, false);
	}

}
