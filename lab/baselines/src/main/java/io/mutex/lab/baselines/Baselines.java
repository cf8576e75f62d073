package io.mutex.lab.baselines;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.mutex.lab.Page;
import io.mutex.lab.Play;
import io.mutex.lab.Provider;
import io.mutex.lab.Result;
import io.mutex.lab.Scenario;
import io.mutex.lab.Subject;

/**
 * Plays the same faults with Mutex and with other libraries, side by side;
 * {@code lab/run.sh baselines} starts it.
 */
public final class Baselines {

	private static final Map<Provider, List<Scenario>> SCENARIOS = new LinkedHashMap<>();

	// the workers mostly wait, so that some runs fit on one machine at once
	private static final int RUNS_AT_ONCE = 3;

	static {
		SCENARIOS.put(Provider.POSTGRESQL, List.of(Scenario.P1, Scenario.P2, Scenario.N2, Scenario.N4, Scenario.N5,
				Scenario.J4, Scenario.J5, Scenario.C1));
		SCENARIOS.put(Provider.REDIS, List.of(Scenario.P1, Scenario.P2, Scenario.N2, Scenario.N4, Scenario.N5,
				Scenario.R1, Scenario.R9, Scenario.C1, Scenario.C3));
	}

	private Baselines() {
	}

	public static void main(String[] arguments) throws Exception {
		double seconds = 30;
		long seed = System.nanoTime() % 1_000_000;
		Set<Scenario> chosen = EnumSet.noneOf(Scenario.class);
		for (String argument : arguments) {
			String value = argument.substring(argument.indexOf('=') + 1);
			if (argument.equals("--short")) {
				seconds = 8;
			}
			else if (argument.startsWith("--minutes=")) {
				seconds = 60 * Double.parseDouble(value);
			}
			else if (argument.startsWith("--seed=")) {
				seed = Long.parseLong(value);
			}
			else if (!argument.equals("baselines")) {
				chosen.add(Scenario.valueOf(argument));
			}
		}
		System.out.println("seed " + seed);
		List<Row> rows = play(new Play(seconds, seed), chosen.isEmpty() ? EnumSet.allOf(Scenario.class) : chosen);
		if (chosen.isEmpty()) {
			Page.write("baselines", Table.of(rows, seconds, seed));
		}
		System.exit(0);
	}

	private static List<Row> play(Play play, Set<Scenario> chosen) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(RUNS_AT_ONCE);
		List<Future<Row>> running = new ArrayList<>();
		SCENARIOS.forEach((provider, scenarios) -> scenarios.stream()
			.filter(chosen::contains)
			.forEach((scenario) -> contenders(provider).forEach((contender) -> running.add(executor.submit(() -> {
				Row row = new Row(contender, play.of(scenario, provider, contender.subject()));
				System.out.println(Table.line(row));
				return row;
			})))));
		List<Row> rows = new ArrayList<>();
		for (Future<Row> each : running) {
			rows.add(each.get());
		}
		executor.shutdown();
		return rows;
	}

	private static Stream<Contender> contenders(Provider provider) {
		return Stream.concat(Stream.of(new Contender(Subject.MUTEX, "")),
				Stream.of(Library.values())
					.filter((library) -> library.isFor(provider))
					.map((library) -> new Contender(library.subject(), library.version())));
	}

	/**
	 * A library that is put into the field.
	 *
	 * @param subject its workers
	 * @param version its version, empty for this project
	 */
	record Contender(Subject subject, String version) {

	}

	/**
	 * What one run of one library has shown.
	 *
	 * @param contender the library
	 * @param result the result
	 */
	record Row(Contender contender, Result result) {

	}

}
