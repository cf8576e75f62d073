package io.mutex.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

import io.mutex.testing.TestServer;

/**
 * Counts the commands that clients send to a Redis, without those that scripts run.
 */
final class RedisMonitor implements AutoCloseable {

	private static final String MARK = "\"monitor-mark\"";

	private final TestServer server;

	private final Socket socket;

	private final AtomicLong commands = new AtomicLong();

	private final AtomicLong marks = new AtomicLong();

	private final Thread reader;

	RedisMonitor(TestServer server) throws IOException {
		this.server = server;
		this.socket = new Socket(server.host(), server.port());
		this.socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
		BufferedReader lines = new BufferedReader(
				new InputStreamReader(this.socket.getInputStream(), StandardCharsets.ISO_8859_1));
		lines.readLine();
		this.reader = new Thread(() -> read(lines), "redis monitor");
		this.reader.setDaemon(true);
		this.reader.start();
	}

	private void read(BufferedReader lines) {
		try {
			String line = lines.readLine();
			while (line != null) {
				if (line.contains(MARK)) {
					this.marks.incrementAndGet();
				}
				else if (!line.contains(" lua] ")) {
					this.commands.incrementAndGet();
				}
				line = lines.readLine();
			}
		}
		catch (IOException ex) {
			// closed
		}
	}

	/**
	 * How many commands arrived until now.
	 * @return the number
	 * @throws IOException if the server cannot be reached
	 */
	long count() throws IOException {
		long before = this.marks.get();
		try (Socket other = new Socket(this.server.host(), this.server.port())) {
			other.getOutputStream().write("ECHO monitor-mark\r\n".getBytes(StandardCharsets.US_ASCII));
			other.getInputStream().read();
			while (this.marks.get() == before && this.reader.isAlive()) {
				Thread.onSpinWait();
			}
		}
		return this.commands.get();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
