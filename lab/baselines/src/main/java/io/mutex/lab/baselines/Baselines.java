package io.mutex.lab.baselines;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
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

	// the most telling ones first: the page is written after each
	private static final List<Scenario> SCENARIOS = List.of(Scenario.P2, Scenario.P1, Scenario.C1, Scenario.N4,
			Scenario.R1, Scenario.R9, Scenario.J4, Scenario.J5, Scenario.N5, Scenario.N2, Scenario.C3);

	private final Play play;

	private final int parallel;

	private final boolean all;

	private final List<Row> rows = new ArrayList<>();

	private Baselines(Play play, int parallel, boolean all) {
		this.play = play;
		this.parallel = parallel;
		this.all = all;
	}

	public static void main(String[] arguments) {
		double seconds = 30;
		long seed = System.nanoTime() % 1_000_000;
		int parallel = Runtime.getRuntime().availableProcessors();
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
			else if (argument.startsWith("--parallel=")) {
				parallel = Integer.parseInt(value);
			}
			else if (!argument.equals("baselines")) {
				chosen.add(Scenario.valueOf(argument));
			}
		}
		System.out.println("seed " + seed);
		new Baselines(new Play(seconds, seed), parallel, chosen.isEmpty())
			.play(chosen.isEmpty() ? Set.of(Scenario.values()) : chosen);
		System.exit(0);
	}

	private void play(Set<Scenario> chosen) {
		List<Supplier<Row>> runs = new ArrayList<>();
		for (Scenario scenario : SCENARIOS) {
			for (Provider provider : List.of(Provider.POSTGRESQL, Provider.REDIS)) {
				if (chosen.contains(scenario) && scenario.providers().contains(provider)) {
					contenders(provider).forEach((contender) -> runs
						.add(() -> new Row(contender, this.play.of(scenario, provider, contender.subject()))));
				}
			}
		}
		Play.each(runs, this.parallel, this::add);
	}

	private void add(Row row) {
		this.rows.add(row);
		this.rows.sort(Comparator.comparing((Row each) -> each.result().provider())
			.thenComparing((each) -> each.result().scenario())
			.thenComparing((each) -> each.contender().subject().name()));
		System.out.println(Table.line(row));
		if (this.all) {
			Page.write("baselines", Table.of(this.rows, this.play, this.parallel));
		}
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
