package io.mutex.lab;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.mutex.testing.ClockShim;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.jspecify.annotations.Nullable;

/**
 * Where the locks and the guarded data are.
 */
public enum Provider {

	FILE, POSTGRESQL, MARIADB, REDIS;

	/** The length of every lease. */
	public static final Duration LEASE = Duration.ofSeconds(2);

	public String text() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * How soon the next grant comes after the death of a holder: the lease, the longest
	 * poll, and what a loaded machine takes. A file is free at once, and who waits for it
	 * asks often.
	 * @return the bound
	 */
	Duration takeover() {
		return (this != FILE) ? LEASE.plusSeconds(1).plusSeconds(2) : Duration.ofMillis(1500);
	}

	/**
	 * How long a fault is felt after it has been healed: two leases, and on Redis the
	 * hold-off after a loss of data, which is the longest lease.
	 * @return the time
	 */
	Duration aftermath() {
		return LEASE.multipliedBy((this != REDIS) ? 2 : 3);
	}

	@Nullable TestServer start(@Nullable ClockShim clock, String... options) {
		return switch (this) {
			case FILE -> null;
			case POSTGRESQL -> TestServers.newPostgres(clock, options);
			case MARIADB -> TestServers.newMariaDb(clock, options);
			case REDIS -> TestServers.newRedis(clock, options);
		};
	}

	/**
	 * The properties of a worker.
	 * @param directory the directory of the run
	 * @param url the JDBC URL, empty if there is none
	 * @param port the port of the server, or of the proxy before it
	 * @return the properties of the application
	 */
	Map<String, String> properties(Path directory, String url, int port) {
		Map<String, String> properties = new LinkedHashMap<>();
		properties.put("spring.main.banner-mode", "off");
		properties.put("logging.level.root", "error");
		properties.put("mutex.provider", (this == POSTGRESQL || this == MARIADB) ? "jdbc" : text());
		properties.put("mutex.namespace", "lab");
		properties.put("mutex.fenced.lease", LEASE.toMillis() + "ms");
		properties.put("mutex.single-run.lease", LEASE.toMillis() + "ms");
		properties.put("mutex.file.directory", directory.resolve("locks").toString());
		properties.put("spring.data.redis.port", Integer.toString(port));
		properties.put("spring.data.redis.timeout", "1s");
		properties.put("spring.datasource.hikari.connection-timeout", "2000");
		properties.put("mutex.jdbc.initialize-schema", "never");
		if (this == REDIS) {
			properties.put(url.isEmpty() ? "mutex.fenced.redis.enabled" : "mutex.fenced.jdbc.enabled", "true");
		}
		if (url.isEmpty()) {
			properties.put("spring.autoconfigure.exclude",
					"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
		}
		else {
			properties.put("spring.datasource.url", url);
		}
		return properties;
	}

}
