package io.mutex.autoconfigure;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.mutex.testing.JavaProcess;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether a key is freed only after the commit of the work that it protects.
 */
class CommitOrderTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@ParameterizedTest(name = "C75 two processes lose no update of a transaction that commits late, locks in {0}")
	@ValueSource(strings = { "jdbc", "redis" })
	void commitsBeforeTheRelease(String provider) throws SQLException {
		TestServer database = TestServers.postgres();
		String url = database.newDatabase();
		try (Connection connection = DriverManager.getConnection(url, database.user(), database.password());
				Statement statement = connection.createStatement()) {
			statement.execute("CREATE TABLE counter (id varchar(10) PRIMARY KEY, amount int NOT NULL)");
			statement.execute("INSERT INTO counter VALUES ('a', 0)");
			List<String> store = new ArrayList<>(List.of("--mutex.provider=" + provider,
					"--spring.datasource.url=" + url, "--spring.datasource.username=" + database.user(),
					"--spring.datasource.password=" + database.password(), "--mutex.jdbc.initialize-schema=always",
					"--spring.application.name=commit-order-" + url.hashCode()));
			if ("redis".equals(provider)) {
				TestServer redis = TestServers.redis();
				store.add("--spring.data.redis.host=" + redis.host());
				store.add("--spring.data.redis.port=" + redis.port());
			}
			try (JavaProcess one = start(store); JavaProcess two = start(store)) {
				List<JavaProcess> both = List.of(one, two);
				both.forEach((instance) -> instance.awaitLine("READY", PATIENCE));
				both.forEach((instance) -> instance.sendLine("go"));
				both.forEach((instance) -> instance.awaitLine("DONE", PATIENCE));
			}
			try (ResultSet rows = statement.executeQuery("SELECT amount FROM counter")) {
				assertThat(rows.next()).isTrue();
				assertThat(rows.getInt(1)).isEqualTo(2 * CountingInstance.THREADS);
			}
		}
	}

	private static JavaProcess start(List<String> store) {
		List<String> arguments = new ArrayList<>(store);
		arguments.addAll(List.of("--spring.main.banner-mode=off", "--logging.level.root=warn",
				"--spring.datasource.hikari.maximum-pool-size=" + CountingInstance.THREADS));
		return JavaProcess.of(CountingInstance.class)
			.jvmArguments("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
			.start(arguments.toArray(String[]::new));
	}

}
