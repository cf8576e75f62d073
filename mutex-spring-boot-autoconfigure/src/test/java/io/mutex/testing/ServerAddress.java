package io.mutex.testing;

import java.net.URI;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Where a server listens and who may use it.
 *
 * @param host the host
 * @param port the port
 * @param jdbcUrl the JDBC URL with user and password, empty for Redis
 * @param user the user, empty for Redis
 * @param password the password, often empty
 */
record ServerAddress(String host, int port, String jdbcUrl, String user, String password) {

	static ServerAddress ofJdbcUrl(String url) {
		URI uri = URI.create(url.substring("jdbc:".length()));
		String query = (uri.getQuery() != null) ? uri.getQuery() : "";
		Map<String, String> parameters = Arrays.stream(query.split("&"))
			.filter((parameter) -> parameter.contains("="))
			.map((parameter) -> parameter.split("=", 2))
			.collect(Collectors.toMap((parameter) -> parameter[0], (parameter) -> parameter[1]));
		int port = (uri.getPort() != -1) ? uri.getPort() : (url.startsWith("jdbc:postgresql:") ? 5432 : 3306);
		return new ServerAddress(uri.getHost(), port, url, parameters.getOrDefault("user", ""),
				parameters.getOrDefault("password", ""));
	}

	static ServerAddress ofHostAndPort(String hostAndPort) {
		int colon = hostAndPort.lastIndexOf(':');
		return new ServerAddress(hostAndPort.substring(0, colon), Integer.parseInt(hostAndPort.substring(colon + 1)),
				"", "", "");
	}

	ServerAddress withDatabase(String name) {
		return ofJdbcUrl(this.jdbcUrl.replaceFirst("^(jdbc:[a-z]+://[^/]+/)[^?]*", "$1" + name));
	}

}
