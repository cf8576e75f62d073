package io.mutex.http;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The hosts that are told the fencing tokens of requests to them, and no others.
 */
public final class FencedHosts {

	private static final Pattern HOST = Pattern
		.compile("(\\*\\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\\[[0-9a-f:.]+])"
				+ "(?::([1-9][0-9]{0,4}))?");

	private final List<Host> hosts = new ArrayList<>();

	/**
	 * Reads the list.
	 * @param hosts each a host, a host and a port ({@code ledger.internal:8080}), or all
	 * hosts below a domain ({@code *.internal}); without a port, each port of the host
	 * @throws IllegalArgumentException if one is anything else
	 */
	public FencedHosts(List<String> hosts) {
		for (String host : hosts) {
			Matcher matcher = HOST.matcher(host.toLowerCase(Locale.ROOT));
			if (!matcher.matches() || (matcher.group(1) != null && matcher.group(2).startsWith("["))) {
				throw new IllegalArgumentException(
						"'" + host + "' is not a host such as ledger.internal, ledger.internal:8080 or *.internal");
			}
			this.hosts.add(new Host(matcher.group(1) != null, matcher.group(2),
					(matcher.group(6) != null) ? Integer.parseInt(matcher.group(6)) : 0));
		}
	}

	/**
	 * Whether a request is told its token.
	 * @param uri where it goes
	 * @return {@code true} if the host is listed
	 */
	public boolean contain(URI uri) {
		String host = uri.getHost();
		return host != null
				&& this.hosts.stream().anyMatch((listed) -> listed.is(host.toLowerCase(Locale.ROOT), port(uri)));
	}

	private static int port(URI uri) {
		if (uri.getPort() > 0) {
			return uri.getPort();
		}
		@Nullable String scheme = uri.getScheme();
		return "https".equalsIgnoreCase(scheme) ? 443 : 80;
	}

	/**
	 * One of them.
	 *
	 * @param below whether the hosts below the name are meant
	 * @param name the host, or the domain
	 * @param port the port, or 0 for any
	 */
	private record Host(boolean below, String name, int port) {

		boolean is(String host, int port) {
			boolean named = this.below ? host.endsWith("." + this.name) : host.equals(this.name);
			return named && (this.port == 0 || this.port == port);
		}

	}

}
