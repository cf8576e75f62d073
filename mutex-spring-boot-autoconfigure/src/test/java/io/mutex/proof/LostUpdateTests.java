package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.mutex.FencingPolicy.Mode;
import io.mutex.proof.Guarding.Addresses;
import io.mutex.testing.Experiments;
import io.mutex.testing.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes that read, change and write back the same accounts, while they are stopped
 * for longer than their leases, or killed. What was accepted stands in the database, also
 * where a worker did not live to hear of it.
 */
@Tag("experiment")
class LostUpdateTests {

	private static final int PROCESSES = Experiments.rounds(2, 4);

	private static final List<String> KEYS = IntStream.range(0, 8).mapToObj((index) -> "account-" + index).toList();

	@TempDir
	Path directory;

	static List<Guarding> guardings() {
		return (PROCESSES > 2) ? List.of(Guarding.POSTGRESQL, Guarding.MARIADB, Guarding.POSTGRESQL_UNDER_REDIS,
				Guarding.MARIADB_UNDER_REDIS) : List.of(Guarding.POSTGRESQL);
	}

	@ParameterizedTest
	@MethodSource("guardings")
	@DisplayName("C69 no update is lost where the storage refuses earlier holders, with workers stopped and killed")
	void noUpdateIsLostBehindAGuard(Guarding guarding) {
		try (Updates updates = new Updates(guarding, Mode.STRICT)) {
			while (updates.count() < Experiments.rounds(200, 10_000) || updates.stops < Experiments.rounds(1, 20)
					|| updates.refusals().isEmpty()) {
				assertThat(updates.stops).isLessThan(200);
				updates.stop();
				updates.kill();
			}
			updates.end();
			assertThat(updates.stale()).as("writes of an earlier holder after one of a later").isZero();
			assertThat(updates.lost()).as("lost updates").isZero();
			assertThat(updates.balances()).isEqualTo(updates.count());
		}
	}

	@Test
	@DisplayName("C69 the same workers lose updates without fencing")
	void updatesAreLostWithoutAGuard() {
		try (Updates updates = new Updates(Guarding.POSTGRESQL, Mode.NONE)) {
			// one that is stopped with the row locked loses an update, too, but not its
			// order
			int stale = Experiments.rounds(0, 1);
			while (updates.lost() == 0 || updates.stale() < stale || updates.stops < Experiments.rounds(1, 20)) {
				assertThat(updates.stops).isLessThan(100);
				updates.stop();
			}
			updates.end();
			assertThat(updates.balances()).isLessThan(updates.count());
		}
	}

	/**
	 * The processes and what they have written.
	 */
	private final class Updates implements AutoCloseable {

		private final Random random = new Random();

		private final Guarding guarding;

		private final Mode fencing;

		private final Addresses addresses;

		private final String namespace = "proof-" + UUID.randomUUID();

		private final GuardedWorker observer;

		private final List<JavaProcess> processes = new ArrayList<>();

		private final Map<String, Long> refusals = new TreeMap<>();

		private int stops;

		private int kills;

		Updates(Guarding guarding, Mode fencing) {
			this.guarding = guarding;
			this.fencing = fencing;
			this.addresses = guarding.prepare(LostUpdateTests.this.directory, KEYS).limited();
			this.observer = new GuardedWorker(guarding, this.addresses, this.namespace, "observer");
			for (int index = 0; index < PROCESSES; index++) {
				this.processes.add(launch());
			}
			this.processes.forEach(UpdatingWorker::awaitStart);
		}

		private JavaProcess launch() {
			return UpdatingWorker.launch(this.guarding, this.addresses, this.namespace, this.fencing, KEYS);
		}

		/**
		 * Stops a process beyond its leases, and not until the database ends what it has
		 * begun: its late writes have to meet the guard.
		 */
		void stop() {
			JavaProcess process = this.processes.get(this.random.nextInt(PROCESSES));
			process.pause();
			long begin = System.nanoTime();
			long length = GuardedWorker.LEASE.plusMillis(200 + this.random.nextInt(500)).toNanos();
			Awaitility.await()
				.pollInterval(Duration.ofMillis(10))
				.atMost(Site.PATIENCE)
				.until(() -> System.nanoTime() - begin > length);
			process.resume();
			this.stops++;
			// it is not to be stopped again before it has done what it was about to do
			Map<String, Long> written = counts();
			Awaitility.await().atMost(Site.PATIENCE).until(() -> haveGrown(written));
		}

		private boolean haveGrown(Map<String, Long> before) {
			Map<String, Long> now = counts();
			return KEYS.stream().allMatch((key) -> now.getOrDefault(key, 0L) > before.getOrDefault(key, 0L));
		}

		/**
		 * Kills a process and starts another in its place.
		 */
		void kill() {
			int index = this.random.nextInt(PROCESSES);
			JavaProcess process = this.processes.get(index);
			process.kill();
			gather(process);
			process.close();
			this.kills++;
			this.processes.set(index, launch());
			UpdatingWorker.awaitStart(this.processes.get(index));
		}

		void end() {
			this.processes.forEach(JavaProcess::kill);
			this.processes.forEach(this::gather);
			Experiments.report("lost updates " + this.guarding + ", fencing " + this.fencing,
					count() + " updates accepted from " + PROCESSES + " processes, " + this.stops + " stops, "
							+ this.kills + " kills, refusals " + this.refusals + ": " + lost() + " lost, " + stale()
							+ " of an earlier holder after a later one");
		}

		private void gather(JavaProcess process) {
			refusals(process).forEach((refusal, count) -> this.refusals.merge(refusal, count, Long::sum));
		}

		private static Map<String, Long> refusals(JavaProcess process) {
			return process.output()
				.stream()
				.filter((line) -> line.startsWith("REFUSED "))
				.map((line) -> line.substring("REFUSED ".length()))
				.collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
		}

		/**
		 * What a late worker was told.
		 * @return how often each was told so far
		 */
		Map<String, Long> refusals() {
			Map<String, Long> all = new TreeMap<>(this.refusals);
			this.processes.forEach(
					(process) -> refusals(process).forEach((refusal, count) -> all.merge(refusal, count, Long::sum)));
			all.keySet().retainAll(Set.of("StaleFencingTokenException", "LeaseLostException"));
			return all;
		}

		private List<History> histories() {
			return KEYS.stream().map((key) -> new History(this.observer.ledger().lines(key))).toList();
		}

		private Map<String, Long> counts() {
			return ((SqlLedger) this.observer.ledger()).counts();
		}

		long count() {
			return counts().values().stream().mapToLong(Long::longValue).sum();
		}

		int lost() {
			return histories().stream().mapToInt(History::lost).sum();
		}

		int stale() {
			return histories().stream().mapToInt(History::stale).sum();
		}

		long balances() {
			return histories().stream().mapToLong(History::last).sum();
		}

		@Override
		public void close() {
			this.processes.forEach(JavaProcess::close);
			this.observer.close();
		}

	}

}
