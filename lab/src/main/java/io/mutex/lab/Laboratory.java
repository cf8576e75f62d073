package io.mutex.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

import io.mutex.lab.Result.Verdict;

/**
 * Plays scenarios and trials and judges them; {@code lab/run.sh} starts it.
 */
public final class Laboratory {

	private final Set<Scenario> scenarios = EnumSet.noneOf(Scenario.class);

	private final Set<Trial> trials = EnumSet.noneOf(Trial.class);

	private final Set<Provider> providers = EnumSet.noneOf(Provider.class);

	private double seconds = 60;

	private long seed = System.nanoTime() % 1_000_000;

	private int parallel = Math.min(Provider.values().length, Runtime.getRuntime().availableProcessors());

	private boolean all;

	private Laboratory(String[] arguments) {
		for (String argument : arguments) {
			String value = argument.substring(argument.indexOf('=') + 1);
			if (argument.startsWith("--provider=")) {
				this.providers.add(Provider.valueOf(value.toUpperCase(Locale.ROOT)));
			}
			else if (argument.startsWith("--minutes=")) {
				this.seconds = 60 * Double.parseDouble(value);
			}
			else if (argument.startsWith("--seed=")) {
				this.seed = Long.parseLong(value);
			}
			else if (argument.startsWith("--parallel=")) {
				this.parallel = Integer.parseInt(value);
			}
			else if (argument.equals("--short")) {
				this.seconds = 10;
			}
			else {
				add(argument);
			}
		}
		if (this.providers.isEmpty()) {
			this.providers.addAll(EnumSet.allOf(Provider.class));
		}
	}

	private void add(String name) {
		this.all |= name.equals("all");
		boolean every = name.equals("all");
		List<Scenario> scenarios = Arrays.stream(Scenario.values())
			.filter((scenario) -> scenario.name().equalsIgnoreCase(name) || (every && scenario != Scenario.SOAK))
			.toList();
		List<Trial> trials = Arrays.stream(Trial.values())
			.filter((trial) -> trial.name().equalsIgnoreCase(name) || every || name.equals("trials"))
			.toList();
		if (scenarios.isEmpty() && trials.isEmpty()) {
			throw new IllegalArgumentException("There is no scenario and no trial " + name);
		}
		this.scenarios.addAll(scenarios);
		this.trials.addAll(trials);
	}

	public static void main(String[] arguments) throws Exception {
		Laboratory laboratory = new Laboratory(arguments);
		List<Verdict> verdicts = new ArrayList<>(laboratory.play());
		verdicts.addAll(laboratory.soak());
		verdicts.addAll(laboratory.test());
		boolean strict = Boolean.parseBoolean(System.getenv("MUTEX_LAB_STRICT"));
		boolean passed = verdicts.stream()
			.allMatch((verdict) -> verdict == Verdict.PASSED || (verdict == Verdict.SKIPPED && !strict));
		System.exit((passed && !verdicts.isEmpty()) ? 0 : 1);
	}

	private List<Verdict> play() {
		System.out.println("seed " + this.seed);
		Play play = new Play(this.seconds, this.seed);
		List<Supplier<Result>> runs = new ArrayList<>();
		for (Scenario scenario : this.scenarios) {
			for (Provider provider : this.providers) {
				if (scenario != Scenario.SOAK && scenario.providers().contains(provider)) {
					runs.add(() -> play.of(scenario, provider, Subject.MUTEX));
				}
			}
		}
		List<Result> results = new ArrayList<>();
		Play.each(runs, this.parallel, (result) -> {
			results.add(result);
			System.out.println(result.line());
			if (!result.reason().isEmpty()) {
				System.out.println(result.reason());
			}
		});
		if (this.all && this.providers.size() == Provider.values().length) {
			Page.write("faults", Report.faults(results, play, this.parallel));
		}
		return results.stream().map(Result::verdict).toList();
	}

	private List<Verdict> soak() {
		if (!this.scenarios.contains(Scenario.SOAK)) {
			return List.of();
		}
		Play play = new Play(this.seconds, this.seed);
		List<SoakReport.Row> rows = SoakReport.play(play, this.providers, this.parallel);
		if (this.providers.size() == Provider.values().length) {
			Page.write("soak", SoakReport.text(rows, play, this.parallel));
		}
		return rows.stream().map(SoakReport.Row::verdict).toList();
	}

	private List<Verdict> test() throws IOException {
		if (this.trials.isEmpty()) {
			return List.of();
		}
		List<String> selectors = this.trials.stream()
			.flatMap((trial) -> trial.selectors().stream())
			.distinct()
			.toList();
		Outcome outcome = TestRun.of(selectors, List.of());
		List<TrialResult> results = this.trials.stream().map((trial) -> TrialResult.of(trial, outcome)).toList();
		for (TrialResult result : results) {
			System.out.println(result.line());
			result.reasons().forEach(System.out::println);
		}
		if (this.trials.size() == Trial.values().length) {
			Page.write("trials", Report.trials(results));
		}
		return results.stream().map(TrialResult::verdict).toList();
	}

}
