package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.mutex.testing.Experiments;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The main faults, each until it has taken effect, and then random ones, on every
 * provider at the same time.
 */
@Tag("experiment")
class LaboratorySmokeTests {

	private static final Set<Scenario> FAULTS = EnumSet.of(Scenario.P1, Scenario.P2, Scenario.N2, Scenario.N4,
			Scenario.J5, Scenario.R12);

	private static final int TRIES = 10;

	private static final Duration LENGTH = Duration.ofMinutes(3);

	// the time of a take-over is measured by the laboratory, on a machine without other
	// work
	private static final Duration TAKEOVER = Duration.ofMinutes(2);

	@TempDir(cleanup = CleanupMode.ON_SUCCESS)
	Path directory;

	private final ExecutorService fields = Executors.newCachedThreadPool();

	@AfterEach
	void stop() {
		this.fields.shutdownNow();
	}

	@Test
	@DisplayName("P1 P2 N2 N4 J5 R12 no invariant is broken on any provider by the main faults, and by random ones")
	void faultsBreakNothing() throws Exception {
		Map<Provider, Future<List<String>>> findings = new EnumMap<>(Provider.class);
		for (Provider provider : Provider.values()) {
			Path place = Files.createDirectory(this.directory.resolve(provider.text()));
			findings.put(provider, this.fields.submit(() -> play(provider, place)));
		}
		for (Map.Entry<Provider, Future<List<String>>> each : findings.entrySet()) {
			assertThat(each.getValue().get(20, TimeUnit.MINUTES)).as(each.getKey().text()).isEmpty();
		}
	}

	private static List<String> play(Provider provider, Path directory) throws IOException {
		long begin = System.nanoTime();
		List<String> findings = new ArrayList<>();
		try (Field field = new Field(Scenario.SOAK, provider, Subject.MUTEX, 7, directory)) {
			field.start();
			for (Scenario fault : FAULTS) {
				if (fault.providers().contains(provider) && !takesEffect(fault, field)) {
					findings.add(fault + " took no effect");
				}
			}
			while (System.nanoTime() - begin < LENGTH.toNanos()) {
				Soak.play(field);
			}
			History history = field.finish();
			Checker.check(history, new Allowance(TAKEOVER, Window.of(history, provider)))
				.forEach((violation) -> findings.add(history.timeline(violation)));
			Figures figures = Figures.of(history, Window.of(history, provider));
			if (figures.accepted() > 0) {
				findings.add(figures.accepted() + " stale writes were accepted");
			}
			Set<String> recorded = history.of(Event.Kind.RECORDED).stream().map(Event::key).collect(Collectors.toSet());
			if (recorded.size() < Routine.KEYS.size() || history.entries().isEmpty()) {
				findings.add("nothing was written, or only " + recorded + " were recorded");
			}
			Experiments.report("smoke of the laboratory, " + provider.text(),
					history.count(Event.Kind.GRANTED) + " grants, " + history.entries().size() + " guarded writes, "
							+ Takeover.of(history).size() + " take-overs, " + figures.attempted() + " stale writes, "
							+ figures.faults() + " in " + Duration.ofNanos(System.nanoTime() - begin).toSeconds()
							+ " s: " + findings.size() + " findings");
		}
		return findings;
	}

	private static boolean takesEffect(Scenario fault, Field field) throws IOException {
		// what the fault before has left behind is none of its effects
		field.sleep(field.provider.aftermath().toMillis());
		long before = effects(fault, field);
		for (int tries = 0; tries < TRIES; tries++) {
			fault.play(field);
			field.sleep(500);
			if (effects(fault, field) > before) {
				return true;
			}
		}
		return false;
	}

	private static long effects(Scenario fault, Field field) throws IOException {
		return fault.effects(field, field.history(List.of()));
	}

}
