package io.mutex.proof;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider.Settlement;
import io.mutex.proof.Instance.Task;
import io.mutex.run.Owner;
import io.mutex.testing.JavaProcess;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes of one application while it is updated: the old one with long leases and
 * a unit a day, the new one with short leases and a unit for each firing, on a store in
 * which a later version has left more than both know.
 */
class VersionTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	private static final Duration SHORT = Duration.ofSeconds(20);

	private static final String DAY = "2026-11-29";

	private static final String FIRING = "2026-11-29T03:00:00Z";

	@TempDir
	static Path directory;

	private static JavaProcess before;

	private static JavaProcess after;

	@BeforeAll
	static void start() {
		before = Instance.launch("before");
		after = Instance.launch("after");
		before.awaitLine("ready", Site.PATIENCE);
		after.awaitLine("ready", Site.PATIENCE);
	}

	@AfterAll
	static void stop() {
		before.close();
		after.close();
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("C123 old and new version exclude each other, know each other's records, and keep the holder's lease")
	void versionsSideBySide(Store store) throws Exception {
		try (Site site = Site.of(store, directory)) {
			if (store == Store.H2 || store == Store.POSTGRESQL || store == Store.MARIADB) {
				addColumns(site.address);
			}
			site.join(before);
			site.join(after);
			assertExcluded(site, before, LONG, DAY, after, SHORT, FIRING);
			assertExcluded(site, after, SHORT, FIRING, before, LONG, DAY);
		}
	}

	private static void assertExcluded(Site site, JavaProcess holder, Duration lease, String unit, JavaProcess other,
			Duration otherLease, String otherUnit) {
		String key = "job-" + unit;
		Task run = task(site, key, unit, lease).stoppingAt(Point.BEFORE_EFFECT, false);
		holder.sendLine(run.toString());
		holder.awaitLine("at " + run.id(), Site.PATIENCE);
		addFields(site);
		assertThat(ended(other, task(site, key, unit, otherLease))).isEqualTo("SKIPPED_HELD");
		assertThat(ended(other, task(site, key, otherUnit, otherLease))).isEqualTo("SKIPPED_HELD");
		if (site.provider.expires()) {
			Duration left = left(site, key);
			assertThat(left.compareTo(SHORT) > 0).as("%s of %s", left, lease).isEqualTo(lease == LONG);
		}
		assertThat(site.provider.lock(key)).hasValueSatisfying((lock) -> assertThat(lock.unit()).isEqualTo(unit));
		holder.sendLine("go " + run.id());
		assertThat(Site.ended(holder, run.id())).isEqualTo("EXECUTED");
		addFields(site);
		assertThat(ended(other, task(site, key, unit, otherLease))).isEqualTo("SKIPPED_DONE");
		assertThat(ended(other, task(site, key, otherUnit, otherLease))).isEqualTo("EXECUTED");
		assertThat(ended(holder, task(site, key, otherUnit, lease))).isEqualTo("SKIPPED_DONE");
		assertThat(site.provider.runs(key, 10)).extracting((record) -> record.unit())
			.containsExactlyInAnyOrder(unit, otherUnit);
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FILE")
	@DisplayName("C123 the lease of a dead holder ends when its own version has said, whoever asks")
	void leaseOfADeadHolder(Store store) {
		try (Site site = Site.of(store, directory)) {
			site.join(before);
			site.join(after);
			AcquireRequest longLease = request("long", LONG);
			assertThat(site.provider.acquire(longLease)).isInstanceOf(Acquisition.Granted.class);
			assertThat(ended(after, task(site, "long", FIRING, SHORT))).isEqualTo("SKIPPED_HELD");
			assertThat(left(site, "long")).isGreaterThan(SHORT);
			assertThat(site.provider.release("long", longLease.nonce(), false)).isEqualTo(Settlement.SETTLED);
			assertThat(site.provider.acquire(request("short", Duration.ofMillis(500))))
				.isInstanceOf(Acquisition.Granted.class);
			site.awaitFree("short");
			assertThat(ended(before, task(site, "short", DAY, LONG))).isEqualTo("EXECUTED");
		}
	}

	private static Duration left(Site site, String key) {
		Acquisition answer = site.provider.acquire(request(key, Duration.ofSeconds(1)));
		assertThat(answer).isInstanceOf(Acquisition.Held.class);
		return ((Acquisition.Held) answer).remaining();
	}

	private static AcquireRequest request(String key, Duration ttl) {
		return new AcquireRequest(key, key, UUID.randomUUID().toString().replace("-", ""),
				new Owner("dead", "host", 1, "main"), ttl, 0, null, 0, 1);
	}

	private static Task task(Site site, String key, String unit, Duration lease) {
		Task task = site.task(key, unit).withLease(lease);
		return task.withId(site.store + "-" + UUID.randomUUID());
	}

	private static String ended(JavaProcess process, Task task) {
		process.sendLine(task.toString());
		return Site.ended(process, task.id());
	}

	// a change of the tables that is allowed to a later version
	private static void addColumns(String url) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			for (String table : List.of("mutex_lock", "mutex_run", "mutex_fence")) {
				statement.execute("ALTER TABLE " + table + " ADD COLUMN later_text varchar(20)");
				statement.execute("ALTER TABLE " + table + " ADD COLUMN later_number int DEFAULT 7 NOT NULL");
			}
		}
	}

	// what a later version may add to the data of Redis: fields, and lines of a record
	private static void addFields(Site site) {
		if (site.store != Store.REDIS) {
			return;
		}
		try (Jedis redis = new Jedis(TestServers.redis().host(), TestServers.redis().port())) {
			for (String key : redis.keys("*" + site.namespace + "*")) {
				if (redis.type(key).equals("hash")) {
					redis.hgetAll(key).forEach((field, value) -> {
						if (value.startsWith("D\n")) {
							redis.hset(key, field, value + "\nlater");
						}
					});
					redis.hset(key, "later", "1");
				}
			}
		}
	}

}
