package io.mutex.proof;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A way to a server that a test can cut: at once, or after the server has answered and
 * before the answer arrives.
 */
public final class CuttingProxy implements AutoCloseable {

	private static final int BUFFER = 16_384;

	private final ServerSocket entrance;

	private final String host;

	private final int port;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private volatile Mode mode = Mode.PASS;

	private CuttingProxy(ServerSocket entrance, String host, int port) {
		this.entrance = entrance;
		this.host = host;
		this.port = port;
	}

	public static CuttingProxy to(String host, int port) {
		try {
			CuttingProxy proxy = new CuttingProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), host,
					port);
			start(proxy::accept);
			return proxy;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int port() {
		return this.entrance.getLocalPort();
	}

	/** Lets everything through. */
	public void pass() {
		this.mode = Mode.PASS;
	}

	/**
	 * Takes what is sent to the server, and cuts the connection instead of its answer.
	 */
	void loseOneAnswer() {
		this.mode = Mode.LOSE_ONE;
	}

	/** Lets the next request through, and nothing after it, its answer included. */
	void loseAnswersForGood() {
		this.mode = Mode.LOSE_ALL;
	}

	/** Cuts every connection, and lets none be made. */
	public void cut() {
		this.mode = Mode.CUT;
		this.sockets.forEach(CuttingProxy::close);
	}

	private void accept() {
		while (!this.entrance.isClosed()) {
			try {
				Socket client = this.entrance.accept();
				if (this.mode == Mode.CUT) {
					client.close();
					continue;
				}
				Socket server = new Socket(this.host, this.port);
				this.sockets.add(client);
				this.sockets.add(server);
				start(() -> pump(client, server, false));
				start(() -> pump(server, client, true));
			}
			catch (IOException ex) {
				// the server is down, or the proxy is closed
			}
		}
	}

	private void pump(Socket from, Socket to, boolean answers) {
		byte[] buffer = new byte[BUFFER];
		try (from; to) {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			for (int read = input.read(buffer); read >= 0; read = input.read(buffer)) {
				if (answers && this.mode == Mode.LOSE_ONE) {
					this.mode = Mode.PASS;
					return;
				}
				if (answers && this.mode == Mode.LOSE_ALL) {
					cut();
					return;
				}
				output.write(buffer, 0, read);
			}
		}
		catch (IOException ex) {
			// cut
		}
		finally {
			this.sockets.remove(from);
			this.sockets.remove(to);
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "cutting-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.entrance.close();
		cut();
	}

	private enum Mode {

		PASS, LOSE_ONE, LOSE_ALL, CUT

	}

}
