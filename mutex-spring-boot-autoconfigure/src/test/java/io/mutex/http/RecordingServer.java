package io.mutex.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;

/**
 * A server that notes the headers of the requests that it gets.
 */
final class RecordingServer implements AutoCloseable {

	private final HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<Received> received = new CopyOnWriteArrayList<>();

	private final Queue<Integer> statuses = new ConcurrentLinkedQueue<>();

	RecordingServer() {
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.setExecutor(this.threads);
		this.server.createContext("/", this::handle);
		this.server.start();
	}

	private void handle(HttpExchange exchange) throws IOException {
		byte[] body = exchange.getRequestBody().readAllBytes();
		this.received.add(new Received(exchange.getRequestHeaders().getOrDefault("Fencing-Token", List.of()),
				exchange.getRequestHeaders().getFirst("Idempotency-Key"), new String(body)));
		Integer status = this.statuses.poll();
		if (status != null && status == 0) {
			exchange.close();
			return;
		}
		exchange.sendResponseHeaders((status != null) ? status : 204, -1);
		exchange.close();
	}

	/**
	 * Sets the status of the next answers.
	 * @param next the statuses, 0 to close the connection without an answer
	 */
	void answer(Integer... next) {
		this.statuses.addAll(List.of(next));
	}

	String uri(String path) {
		return "http://localhost:" + this.server.getAddress().getPort() + path;
	}

	List<Received> received() {
		return this.received;
	}

	List<@Nullable String> keys() {
		return this.received.stream().<@Nullable String>map(Received::key).toList();
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	/**
	 * What has come with a request.
	 *
	 * @param tokens the fencing tokens
	 * @param key the idempotency key
	 * @param body the body
	 */
	record Received(List<String> tokens, @Nullable String key, String body) {

	}

}
