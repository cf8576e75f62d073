package io.mutex.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A way to a server that a test can cut: at once, or after the server has answered and
 * before the answer arrives.
 */
public final class CuttingProxy implements AutoCloseable {

	private static final int BUFFER = 16_384;

	private static final long POLL_MILLIS = 5;

	private final ServerSocket entrance;

	private final String host;

	private final int port;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicInteger lost = new AtomicInteger();

	private volatile Mode mode = Mode.PASS;

	private volatile Duration delay = Duration.ZERO;

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
	public void loseOneAnswer() {
		this.mode = Mode.LOSE_ONE;
	}

	/** Lets the next request through, and nothing after it, its answer included. */
	public void loseAnswersForGood() {
		this.mode = Mode.LOSE_ALL;
	}

	/** Cuts every connection, and lets none be made. */
	public void cut() {
		this.mode = Mode.CUT;
		this.sockets.forEach(CuttingProxy::close);
	}

	/** Keeps every connection open, and passes nothing on until {@link #pass()}. */
	public void hold() {
		this.mode = Mode.HOLD;
	}

	/** Passes requests on, and holds their answers until {@link #pass()}. */
	public void holdAnswers() {
		this.mode = Mode.HOLD_ANSWERS;
	}

	/**
	 * Makes every request wait before it is passed on.
	 * @param delay how long, zero for not at all
	 */
	public void delay(Duration delay) {
		this.delay = delay;
	}

	/**
	 * How many answers have not arrived since their connection was cut.
	 * @return the number
	 */
	public int lost() {
		return this.lost.get();
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
					this.lost.incrementAndGet();
					return;
				}
				if (answers && this.mode == Mode.LOSE_ALL) {
					cut();
					return;
				}
				rest(answers);
				if (answers && to.isClosed()) {
					this.lost.incrementAndGet();
				}
				output.write(buffer, 0, read);
			}
		}
		catch (IOException ex) {
			// cut
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.sockets.remove(from);
			this.sockets.remove(to);
		}
	}

	private void rest(boolean answers) throws InterruptedException {
		if (!answers && !this.delay.isZero()) {
			Thread.sleep(this.delay.toMillis());
		}
		while (this.mode == Mode.HOLD || (answers && this.mode == Mode.HOLD_ANSWERS)) {
			Thread.sleep(POLL_MILLIS);
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

		PASS, LOSE_ONE, LOSE_ALL, CUT, HOLD, HOLD_ANSWERS

	}

}
