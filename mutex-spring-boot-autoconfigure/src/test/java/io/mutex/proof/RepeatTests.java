package io.mutex.proof;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.MutexListener.Run;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.scheduling.TaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the starter runs by itself, in whole applications on real stores: after a failure,
 * after a death, at start-up, and nothing while nothing is pending.
 */
@Tag("experiment")
class RepeatTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int YEAR = Instant.now().atZone(ZoneOffset.UTC).getYear();

	@TempDir
	static Path directory;

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	private final List<LockProvider> providers = new ArrayList<>();

	private final List<String> bodies = new CopyOnWriteArrayList<>();

	private final List<Run> ends = new CopyOnWriteArrayList<>();

	private volatile int failures;

	private String namespace = "";

	private String address = "";

	@BeforeEach
	void newNamespace() {
		this.namespace = "repeat-" + UUID.randomUUID();
	}

	// what is promised, on a machine that does nothing else
	private static Duration within(int seconds) {
		return Duration.ofSeconds(Experiments.rounds((int) PATIENCE.toSeconds(), seconds));
	}

	@AfterEach
	void close() {
		this.instances.forEach(ConfigurableApplicationContext::close);
		this.providers.forEach(LockProvider::close);
	}

	@ParameterizedTest
	@EnumSource(names = { "FILE", "POSTGRESQL", "MARIADB", "REDIS" })
	void unitOfAProcessThatIsKilledInTheBodyIsRunByAnotherInstance(Store store) {
		prepare(store);
		ConfigurableApplicationContext other = instance(store, "other");
		try (JavaProcess dying = dying(store, "takenOver")) {
			dying.awaitLine("BODY takenOver", PATIENCE);
			RepeatingInstance.fire(other, "takenOver");
			assertThat(this.ends).singleElement().returns(Outcome.SKIPPED_HELD, Run::outcome);
			dying.kill();
		}
		long killed = System.nanoTime();
		awaitEnd(Outcome.EXECUTED);
		Duration took = Duration.ofNanos(System.nanoTime() - killed);
		assertThat(took).isLessThan(within(10));
		assertThat(this.bodies).containsExactly("takenOver");
		Experiments.report("killed in the body, lease 5s, maxRetries 1, " + store,
				"another instance has run the unit after " + took.toMillis() + " ms");
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "REDIS" })
	void unitInDoubtIsNotRunAgain(Store store) {
		prepare(store);
		ConfigurableApplicationContext two = instance(store, "two");
		ConfigurableApplicationContext three = instance(store, "three");
		try (JavaProcess dying = dying(store, "inDoubt")) {
			dying.awaitLine("BODY inDoubt", PATIENCE);
			RepeatingInstance.fire(two, "inDoubt");
			RepeatingInstance.fire(three, "inDoubt");
			dying.kill();
		}
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.ends.stream().filter((end) -> end.outcome() == Outcome.SKIPPED_IN_DOUBT).count() == 2);
		RepeatingInstance.fire(two, "inDoubt");
		assertThat(this.bodies).isEmpty();
		assertThat(this.ends).filteredOn((end) -> end.outcome() == Outcome.SKIPPED_IN_DOUBT).hasSize(3);
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "REDIS" })
	void firstAttemptThrowsAndAnotherInstanceSucceedsAfterTheFirstHasGone(Store store) {
		prepare(store);
		ConfigurableApplicationContext one = instance(store, "one");
		ConfigurableApplicationContext other = instance(store, "other");
		this.failures = 1;
		long fired = System.nanoTime();
		RepeatingInstance.fire(one, "firstThrows");
		RepeatingInstance.fire(other, "firstThrows");
		one.close();
		awaitEnd(Outcome.EXECUTED);
		Duration took = Duration.ofNanos(System.nanoTime() - fired);
		assertThat(took).isBetween(Duration.ofSeconds(2), within(5));
		assertThat(this.providers.get(0).runs("firstThrows", 1)).singleElement()
			.satisfies((run) -> assertThat(run.owner().instance()).isEqualTo("other"));
		Experiments.report("first attempt throws, delay 2s, first instance closed, " + store,
				"succeeded after " + took.toMillis() + " ms");
	}

	@ParameterizedTest
	@EnumSource(names = { "FILE", "POSTGRESQL", "REDIS" })
	void unitThatWasMissedByAllInstancesIsRunOnceAtStartUp(Store store) throws InterruptedException {
		prepare(store);
		succeed("caughtUp", (YEAR - 1) + "-01-01T00:00:00Z");
		List<Thread> starts = new ArrayList<>();
		for (String name : List.of("one", "two")) {
			Thread start = new Thread(() -> instance(store, name));
			start.start();
			starts.add(start);
		}
		for (Thread start : starts) {
			start.join();
		}
		long started = System.nanoTime();
		awaitEnd(Outcome.EXECUTED);
		Duration took = Duration.ofNanos(System.nanoTime() - started);
		assertThat(took).isLessThan(within(5));
		instance(store, "three");
		TimeUnit.SECONDS.sleep(1);
		assertThat(this.bodies).containsExactly("caughtUp");
		assertThat(this.providers.get(0).runs("neverRan", 1)).isEmpty();
		Experiments.report("missed by all instances, two started together, " + store,
				"run once, " + took.toMillis() + " ms after both had started");
	}

	@Test
	void idleInstanceSendsPostgresNothing() throws Exception {
		prepare(Store.POSTGRESQL);
		becomeIdle(Store.POSTGRESQL);
		String database = this.address.replaceAll(".*/([^?]*)(\\?.*)?", "$1");
		try (Connection connection = DriverManager.getConnection(this.address);
				Statement statement = connection.createStatement()) {
			String active = "select coalesce(max(state_change), '-infinity')::text from pg_stat_activity where datname = '"
					+ database + "' and backend_type = 'client backend' and pid <> pg_backend_pid()";
			String before = text(statement, active);
			TimeUnit.SECONDS.sleep(Experiments.rounds(3, 60));
			assertThat(text(statement, active)).isEqualTo(before);
		}
		RepeatingInstance.fire(this.instances.get(0), "takenOver");
		Experiments.report("idle for " + Experiments.rounds(3, 60) + " s, PostgreSQL",
				"0 statements of 2 instances with retries and catch-up");
	}

	@Test
	void idleInstanceSendsRedisNothingAndATickCostsTwoCommandsAndOneForEachLoser() throws Exception {
		prepare(Store.REDIS);
		becomeIdle(Store.REDIS);
		int colon = this.address.lastIndexOf(':');
		LettuceConnectionFactory factory = new LettuceConnectionFactory(this.address.substring(0, colon),
				Integer.parseInt(this.address.substring(colon + 1)));
		factory.afterPropertiesSet();
		factory.start();
		try (RedisConnection connection = factory.getConnection()) {
			long before = commands(connection);
			TimeUnit.SECONDS.sleep(Experiments.rounds(3, 60));
			assertThat(commands(connection) - before).isOne(); // the question itself
			long scripts = scripts(connection);
			this.instances.forEach((instance) -> RepeatingInstance.fire(instance, "firstThrows"));
			assertThat(scripts(connection) - scripts).isEqualTo(3);
			assertThat(this.ends).extracting(Run::outcome).endsWith(Outcome.EXECUTED, Outcome.SKIPPED_DONE);
		}
		finally {
			factory.destroy();
		}
		Experiments.report("idle for " + Experiments.rounds(3, 60) + " s, Redis",
				"0 commands of 2 instances with retries and catch-up; a tick: 2 of the winner, 1 of the loser");
	}

	private void becomeIdle(Store store) {
		instance(store, "one");
		instance(store, "two");
		this.instances.forEach((instance) -> RepeatingInstance.fire(instance, "takenOver"));
		awaitEnd(Outcome.SKIPPED_DONE);
		// the look for missed runs has ended on the only thread of each scheduler
		this.instances.forEach((instance) -> {
			CountDownLatch reached = new CountDownLatch(1);
			Future<?> unused = instance.getBean(TaskScheduler.class).schedule(reached::countDown, Instant.now());
			Awaitility.await().atMost(PATIENCE).until(() -> reached.getCount() == 0);
		});
	}

	private static String text(Statement statement, String query) throws SQLException {
		try (ResultSet result = statement.executeQuery(query)) {
			result.next();
			return result.getString(1);
		}
	}

	private static long commands(RedisConnection connection) {
		return Long.parseLong(connection.serverCommands().info("stats").getProperty("total_commands_processed"));
	}

	private static long scripts(RedisConnection connection) {
		String[] calls = connection.serverCommands().info("commandstats").getProperty("cmdstat_evalsha").split("[=,]");
		return Long.parseLong(calls[1]);
	}

	private void prepare(Store store) {
		try {
			this.address = store.prepare(Files.createTempDirectory(directory, store.name()));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		this.providers.add(store.open(this.address, this.namespace));
	}

	private JavaProcess dying(Store store, String job) {
		return JavaProcess.of(RepeatingInstance.class)
			.jvmArguments("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
			.start(store.name(), this.address, this.namespace, job);
	}

	private ConfigurableApplicationContext instance(Store store, String name) {
		LockProvider provider = store.open(this.address, this.namespace);
		ConfigurableApplicationContext context = RepeatingInstance.start(provider, name, this::body, this.ends::add);
		synchronized (this.instances) {
			this.providers.add(provider);
			this.instances.add(context);
		}
		return context;
	}

	private synchronized void body(String job) {
		this.bodies.add(job);
		if (this.failures > 0) {
			this.failures--;
			throw new RepeatingInstance.Failing();
		}
	}

	private void awaitEnd(Outcome outcome) {
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.until(() -> this.ends.stream().anyMatch((end) -> end.outcome() == outcome));
	}

	private void succeed(String key, String unit) {
		LockProvider provider = this.providers.get(0);
		String nonce = UUID.randomUUID().toString().replace("-", "");
		Acquisition granted = provider.acquire(new AcquireRequest(key, key, nonce, new Owner("past", "host", 1, "main"),
				PATIENCE, 0, RunUnit.of(unit), 1, 1));
		provider.complete(new Grant(key, nonce, ((Acquisition.Granted) granted).token(), PATIENCE), unit);
	}

}
