package io.mutex.proof;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.mutex.Leases;
import io.mutex.LockProvider;
import io.mutex.MutexListener.Run;
import io.mutex.run.Outcome;
import io.mutex.testing.Experiments;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Four instances fire one job at offsets of 0, 10 and 50 ms in turn, with a delay of 50
 * ms between the attempts of a unit. Bodies that succeed run once; bodies that fail run
 * once in each of exactly three attempts, spaced by the delay.
 */
@Tag("experiment")
class RetryRoundsTests {

	private static final int INSTANCES = 4;

	private static final int ATTEMPTS = 3;

	private static final long DELAY = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long[] OFFSETS = { 0, 10, 50 };

	@TempDir
	static Path directory;

	private final Map<String, Queue<Long>> began = new ConcurrentHashMap<>();

	private final Map<String, Queue<Integer>> attempts = new ConcurrentHashMap<>();

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "REDIS" })
	void everyAttemptRunsOnceAndTheyAreSpaced(Store store) throws Exception {
		int rounds = Experiments.rounds(12, 1000);
		String address = store.prepare(directory);
		String namespace = "rounds-" + UUID.randomUUID();
		List<LockProvider> providers = new ArrayList<>();
		List<ConfigurableApplicationContext> instances = new ArrayList<>();
		ExecutorService threads = Executors.newFixedThreadPool(INSTANCES);
		try {
			for (int index = 0; index < INSTANCES; index++) {
				LockProvider provider = store.open(address, namespace);
				providers.add(provider);
				instances.add(RepeatingInstance.start(provider, "pod-" + index, this::body, this::ended));
			}
			for (int round = 0; round < rounds; round++) {
				String fails = "fails-" + round;
				fire(instances, threads, fails, OFFSETS[round % OFFSETS.length]);
				awaitAttempts(fails, ATTEMPTS);
				String succeeds = "succeeds-" + round;
				fire(instances, threads, succeeds, OFFSETS[round % OFFSETS.length]);
				awaitAttempts(succeeds, 1);
			}
			TimeUnit.SECONDS.sleep(1); // in which another attempt would be made
		}
		finally {
			threads.shutdownNow();
			instances.forEach(ConfigurableApplicationContext::close);
			providers.forEach(LockProvider::close);
		}
		assertThat(this.began).hasSize(2 * rounds);
		this.began.forEach((unit, times) -> {
			boolean fails = unit.startsWith("fails");
			assertThat(times).as(unit).hasSize(fails ? ATTEMPTS : 1);
			assertThat(this.attempts.get(unit)).as(unit)
				.containsExactlyElementsOf(fails ? List.of(1, 2, 3) : List.of(1));
			assertSpaced(unit, List.copyOf(times));
		});
		Experiments.report("retries of " + INSTANCES + " instances at 0, 10 and 50 ms, " + store,
				rounds + " failing units: " + count("fails") + " runs in " + ATTEMPTS + " attempts each; " + rounds
						+ " succeeding units: " + count("succeeds") + " runs; none doubled, all spaced by the delay");
	}

	private void fire(List<ConfigurableApplicationContext> instances, ExecutorService threads, String unit, long offset)
			throws Exception {
		instances.forEach((instance) -> instance.getBean(RepeatingInstance.Jobs.class).setUnit(unit));
		long start = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
		List<Future<?>> calls = new ArrayList<>();
		for (int index = 0; index < instances.size(); index++) {
			ConfigurableApplicationContext instance = instances.get(index);
			long at = start + index * TimeUnit.MILLISECONDS.toNanos(offset);
			calls.add(threads.submit(() -> {
				while (System.nanoTime() - at < 0) {
					LockSupport.parkNanos(at - System.nanoTime());
				}
				RepeatingInstance.fire(instance, "round");
			}));
		}
		for (Future<?> call : calls) {
			call.get(60, TimeUnit.SECONDS);
		}
	}

	private void body(String ignored) {
		String unit = Leases.current().orElseThrow().unit();
		this.began.computeIfAbsent(String.valueOf(unit), (key) -> new ConcurrentLinkedQueue<>()).add(System.nanoTime());
		if (String.valueOf(unit).startsWith("fails")) {
			throw new RepeatingInstance.Failing();
		}
	}

	private void ended(Run run) {
		if (run.outcome() == Outcome.EXECUTED || run.outcome() == Outcome.FAILED) {
			this.attempts.computeIfAbsent(String.valueOf(run.unit()), (key) -> new ConcurrentLinkedQueue<>())
				.add(run.attempt());
		}
	}

	private void awaitAttempts(String unit, int expected) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(5))
			.until(() -> this.attempts.getOrDefault(unit, new ConcurrentLinkedQueue<>()).size() >= expected);
	}

	private long count(String prefix) {
		return this.began.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith(prefix))
			.mapToLong((entry) -> entry.getValue().size())
			.sum();
	}

	private static void assertSpaced(String unit, List<Long> times) {
		for (int index = 1; index < times.size(); index++) {
			assertThat(times.get(index) - times.get(index - 1)).as(unit).isGreaterThanOrEqualTo(DELAY);
		}
	}

}
