package io.mutex.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.mutex.lab.Result.Verdict;

/**
 * Plays scenarios and judges them; {@code lab/run.sh} starts it.
 */
public final class Laboratory {

	private final Set<Scenario> scenarios = EnumSet.noneOf(Scenario.class);

	private final Set<Provider> providers = EnumSet.noneOf(Provider.class);

	private double seconds = 60;

	private long seed = System.nanoTime() % 1_000_000;

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
			else if (argument.equals("--short")) {
				this.seconds = 10;
			}
			else if (argument.equals("all")) {
				this.all = true;
				this.scenarios.addAll(EnumSet.complementOf(EnumSet.of(Scenario.SOAK)));
			}
			else {
				this.scenarios.add(Scenario.valueOf(argument.toUpperCase(Locale.ROOT)));
			}
		}
		if (this.providers.isEmpty()) {
			this.providers.addAll(EnumSet.allOf(Provider.class));
		}
	}

	public static void main(String[] arguments) throws Exception {
		Laboratory laboratory = new Laboratory(arguments);
		List<Result> results = laboratory.run();
		boolean strict = Boolean.parseBoolean(System.getenv("MUTEX_LAB_STRICT"));
		boolean passed = results.stream()
			.allMatch(
					(result) -> result.verdict() == Verdict.PASSED || (result.verdict() == Verdict.SKIPPED && !strict));
		System.exit((passed && !results.isEmpty()) ? 0 : 1);
	}

	private List<Result> run() throws IOException {
		System.out.println("seed " + this.seed);
		Play play = new Play(this.seconds, this.seed);
		List<Result> results = new ArrayList<>();
		for (Scenario scenario : this.scenarios) {
			for (Provider provider : this.providers) {
				if (scenario.providers().contains(provider)) {
					Result result = play.of(scenario, provider, Subject.MUTEX);
					results.add(result);
					if (this.all) {
						Page.write("faults", Report.faults(results, play));
					}
					System.out.println(result.line());
					if (!result.reason().isEmpty()) {
						System.out.println(result.reason());
					}
				}
			}
		}
		return results;
	}

}
