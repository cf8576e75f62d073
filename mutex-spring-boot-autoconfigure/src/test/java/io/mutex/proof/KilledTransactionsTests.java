package io.mutex.proof;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.mutex.testing.CuttingProxy;
import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Runs whose record is in their transaction, ended at every point of it: what has its
 * effect has its record, and the reverse, and nothing is there twice.
 */
@Tag("experiment")
class KilledTransactionsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final int THREADS = TransactionalInstance.THREADS;

	@TempDir
	Path directory;

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	@DisplayName("C47 processes killed anywhere in the transaction leave effects and records equal")
	void killedProcesses(Store store) throws SQLException {
		String url = prepare(store);
		int wanted = Experiments.rounds(10, 200);
		// enough for kills that come between two transactions
		int jobs = Experiments.rounds(120, 800);
		int killed = 0;
		int checked = 0;
		int kills = 0;
		while (killed < wanted) {
			try (JavaProcess child = start(url, jobs, "go")) {
				// later ones skip what is done first
				child.awaitLine("BEGIN", PATIENCE);
				TransactionalInstance.pause(ThreadLocalRandom.current().nextInt(150));
				child.kill();
				Set<String> open = open(child.output());
				killed += open.size();
				checked += (int) child.output().stream().filter("CHECKED"::equals).count() - ends(child.output());
				kills++;
			}
			assertSame(url);
		}
		// on a busy machine a run may lose its lease, which leaves its unit to the next
		for (int rest = 0; rest < 5 && query(url, "SELECT COUNT(*) FROM effect") < jobs; rest++) {
			try (JavaProcess child = start(url, jobs, "go")) {
				child.awaitLine("FINISHED", PATIENCE);
			}
			assertSame(url);
		}
		assertThat(query(url, "SELECT COUNT(*) FROM effect")).isEqualTo(jobs);
		Experiments.report("in-transaction kills " + store,
				killed + " runs killed by " + kills + " kills, " + checked
						+ " of them between check and answer of the commit; " + jobs
						+ " units, each with one effect and one record");
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	@DisplayName("C47 processes stopped beyond the lease between check and commit are taken over, and record nothing")
	void stoppedProcesses(Store store) throws SQLException {
		int rounds = Experiments.rounds(1, 26);
		long slowest = 0;
		for (int round = 0; round < rounds; round++) {
			String url = prepare(store);
			try (JavaProcess child = start(url, THREADS, "stop");
					TransactionalInstance other = new TransactionalInstance(url, () -> {
					}, () -> {
					})) {
				for (int job = 0; job < THREADS; job++) {
					child.awaitLine("CHECKED", PATIENCE);
				}
				child.pause();
				long start = System.nanoTime();
				for (int job = 0; job < THREADS; job++) {
					other.jobs().run("job-" + job);
				}
				slowest = Math.max(slowest, System.nanoTime() - start);
				assertThat(query(url, "SELECT COUNT(*) FROM effect WHERE job LIKE 'job%'")).isEqualTo(THREADS);
				child.resume();
				child.awaitLine("FINISHED", PATIENCE);
				assertThat(child.output()).noneMatch((line) -> line.startsWith("END job"));
			}
			assertSame(url);
			assertThat(query(url, "SELECT COUNT(*) FROM effect WHERE job LIKE 'job%'")).isEqualTo(THREADS);
		}
		Experiments.report("in-transaction stops " + store,
				rounds * THREADS + " runs stopped between check and commit, " + "all " + THREADS
						+ " of a round taken over within " + Duration.ofNanos(slowest).toMillis() + " ms");
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	@DisplayName("C47 connections cut between check and commit, or before its answer, leave effects and records equal")
	void cutConnections(Store store) throws SQLException, IOException {
		String url = prepare(store);
		Matcher address = Pattern.compile("//([^:/]+):(\\d+)/").matcher(url);
		assertThat(address.find()).isTrue();
		int rounds = Experiments.rounds(6, 200);
		int committed = 0;
		try (CuttingProxy proxy = CuttingProxy.to(address.group(1), Integer.parseInt(address.group(2)))) {
			String cut = address.replaceFirst("//127.0.0.1:" + proxy.port() + "/");
			Runnable[] meddle = new Runnable[1];
			try (TransactionalInstance instance = new TransactionalInstance(cut, () -> meddle[0].run(), () -> {
			})) {
				for (int round = 0; round < rounds; round++) {
					boolean lost = round % 2 == 0;
					meddle[0] = lost ? proxy::loseOneAnswer : () -> {
						proxy.cut();
						proxy.pass();
					};
					instance.run("job-" + round);
					long done = query(url,
							"SELECT COUNT(*) FROM mutex_run WHERE status = 'D' AND lock_key = 'job-" + round + "'");
					committed += (int) done;
					assertThat(done).isEqualTo(lost ? 1 : 0);
					assertSame(url);
					meddle[0] = () -> {
					};
					instance.run("job-" + round);
				}
			}
		}
		assertSame(url);
		assertThat(query(url, "SELECT COUNT(*) FROM effect")).isEqualTo(rounds);
		Experiments.report("in-transaction cuts " + store, rounds + " connections cut, " + committed
				+ " of them after the commit had come through; each unit with one effect and one record");
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB", "H2" })
	@DisplayName("C47 nobody takes the key between check and commit")
	void rowStaysLockedUntilTheCommit(Store store) throws SQLException {
		String url = prepare(store);
		AtomicReference<Throwable> refusal = new AtomicReference<>();
		try (Connection other = DriverManager.getConnection(url);
				Statement statement = other.createStatement();
				TransactionalInstance instance = new TransactionalInstance(url,
						() -> refusal.set(catchThrowable(() -> statement
							.executeUpdate("UPDATE mutex_lock SET version = version + 1 WHERE lock_key = 'job-0'"))),
						() -> {
						})) {
			statement.execute(switch (store) {
				case POSTGRESQL -> "SET lock_timeout = '200ms'";
				case MARIADB -> "SET SESSION innodb_lock_wait_timeout = 1";
				default -> "SET LOCK_TIMEOUT 200";
			});
			instance.jobs().run("job-0");
		}
		assertThat(refusal.get()).isInstanceOf(SQLException.class);
		assertSame(url);
		assertThat(query(url, "SELECT COUNT(*) FROM effect")).isEqualTo(1);
	}

	private String prepare(Store store) throws SQLException {
		String url = store.prepare(this.directory);
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			statement.execute("CREATE TABLE effect (job varchar(100))");
		}
		return url;
	}

	private static JavaProcess start(String url, int jobs, String mode) {
		JavaProcess child = JavaProcess.of(TransactionalInstance.class)
			.jvmArguments("-XX:TieredStopAtLevel=1")
			.start(url, Integer.toString(jobs), mode);
		child.awaitLine("READY", PATIENCE);
		child.sendLine("go");
		return child;
	}

	private static Set<String> open(List<String> output) {
		Set<String> open = new HashSet<>();
		for (String line : output) {
			if (line.startsWith("BEGIN ")) {
				open.add(line.split(" ")[1]);
			}
		}
		for (String line : output) {
			if (line.startsWith("END ")) {
				open.remove(line.split(" ")[1]);
			}
		}
		return open;
	}

	private static int ends(List<String> output) {
		Set<String> begun = new HashSet<>();
		int ends = 0;
		for (String line : output) {
			if (line.startsWith("BEGIN ")) {
				begun.add(line.split(" ")[1]);
			}
			if (line.startsWith("END ") && begun.contains(line.split(" ")[1])) {
				ends++;
			}
		}
		return ends;
	}

	private static void assertSame(String url) throws SQLException {
		assertThat(query(url, "SELECT COUNT(*) FROM effect")).as("effects that are there twice")
			.isEqualTo(query(url, "SELECT COUNT(DISTINCT job) FROM effect"));
		assertThat(
				query(url,
						"SELECT COUNT(*) FROM effect e WHERE NOT EXISTS (SELECT 1 FROM mutex_run r"
								+ " WHERE r.lock_key = e.job AND r.status = 'D')"))
			.as("effects without a record")
			.isZero();
		assertThat(query(url, "SELECT COUNT(*) FROM mutex_run r WHERE r.status = 'D' AND NOT EXISTS (SELECT 1"
				+ " FROM effect e WHERE r.lock_key = e.job)"))
			.as("records without an effect")
			.isZero();
	}

	private static long query(String url, String sql) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			rows.next();
			return rows.getLong(1);
		}
	}

}
