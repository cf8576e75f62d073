package io.mutex.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The name of this host, for people.
 */
final class HostName {

	private HostName() {
	}

	/**
	 * Asks the environment, then the system. May ask a name server, so it is called once.
	 * @return the name, or {@code unknown}
	 */
	static String get() {
		String host = System.getenv("HOSTNAME");
		if (host != null && !host.isBlank()) {
			return host;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown";
		}
	}

}
