package io.mutex.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.mutex.run.Outcome;
import io.mutex.testing.JavaProcess;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances of an application and one scheduled method: one run at each firing, and
 * after one instance is killed the other goes on.
 */
class TwoInstancesTests {

	private static final Duration STARTUP = Duration.ofMinutes(3);

	@TempDir
	static Path directory;

	static Stream<List<String>> stores() {
		return Stream.of(List.of("--mutex.provider=file", "--mutex.file.directory=" + directory.resolve("locks")),
				jdbc("jdbc:h2:file:" + directory.resolve("h2") + ";AUTO_SERVER=TRUE"),
				jdbc(TestServers.postgres().newDatabase()), jdbc(TestServers.mariadb().newDatabase()), redis());
	}

	private static List<String> jdbc(String url) {
		return List.of("--mutex.provider=jdbc", "--spring.datasource.url=" + url,
				"--mutex.jdbc.initialize-schema=always");
	}

	private static List<String> redis() {
		TestServer server = TestServers.redis();
		return List.of("--mutex.provider=redis", "--spring.data.redis.host=" + server.host(),
				"--spring.data.redis.port=" + server.port());
	}

	@ParameterizedTest
	@MethodSource("stores")
	void oneOfThemRunsEachFiringAndTheOtherGoesOnWhenItIsKilled(List<String> store) {
		try (JavaProcess one = start(store, "one"); JavaProcess two = start(store, "two")) {
			one.awaitLine("READY", STARTUP);
			two.awaitLine("READY", STARTUP);
			Instant both = Instant.now().plusSeconds(ScheduledInstance.INTERVAL);
			awaitRuns(List.of(one, two), both, 5);
			JavaProcess runner = runner(one, two);
			runner.kill();
			JavaProcess other = (runner == one) ? two : one;
			Instant killed = Instant.now();
			awaitRuns(List.of(other), killed.plusSeconds(ScheduledInstance.INTERVAL), 2);
			Map<Instant, List<Outcome>> outcomes = outcomes(List.of(one, two));
			assertThat(outcomes.values()).allSatisfy(
					(ended) -> assertThat(ended.stream().filter(Outcome.EXECUTED::equals)).hasSizeLessThanOrEqualTo(1));
			outcomes.forEach((unit, ended) -> {
				if (unit.isAfter(both) && unit.isBefore(killed.minusSeconds(2 * ScheduledInstance.INTERVAL))) {
					assertThat(ended).as("firing of %s", unit).hasSize(2).contains(Outcome.EXECUTED);
				}
			});
		}
	}

	private static JavaProcess start(List<String> store, String instance) {
		List<String> arguments = new ArrayList<>(store);
		arguments.addAll(List.of("--spring.application.name=two-instances", "--mutex.single-run.lease=2s",
				"--mutex.instance-id=" + instance, "--spring.main.banner-mode=off", "--logging.level.root=warn"));
		return JavaProcess.of(ScheduledInstance.class)
			.jvmArguments("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
			.start(arguments.toArray(String[]::new));
	}

	// The instance that is in the middle of a run at this moment.
	private static JavaProcess runner(JavaProcess one, JavaProcess two) {
		List<JavaProcess> running = new ArrayList<>();
		Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20)).until(() -> {
			Stream.of(one, two).filter(TwoInstancesTests::isRunning).forEach(running::add);
			return !running.isEmpty();
		});
		return running.get(0);
	}

	private static boolean isRunning(JavaProcess instance) {
		long bodies = instance.output().stream().filter("BODY"::equals).count();
		long ends = instance.output().stream().filter((line) -> line.endsWith(" " + Outcome.EXECUTED)).count();
		return bodies > ends;
	}

	private static void awaitRuns(List<JavaProcess> instances, Instant after, int runs) {
		Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.until(() -> outcomes(instances).entrySet()
				.stream()
				.filter((entry) -> entry.getKey().isAfter(after) && entry.getValue().contains(Outcome.EXECUTED))
				.count() >= runs);
	}

	private static Map<Instant, List<Outcome>> outcomes(List<JavaProcess> instances) {
		Map<Instant, List<Outcome>> outcomes = new TreeMap<>();
		for (JavaProcess instance : instances) {
			for (String line : instance.output()) {
				if (line.startsWith("RUN ")) {
					String[] parts = line.split(" ");
					outcomes.computeIfAbsent(Instant.parse(parts[1]), (unit) -> new ArrayList<>())
						.add(Outcome.valueOf(parts[2]));
				}
			}
		}
		return outcomes;
	}

}
