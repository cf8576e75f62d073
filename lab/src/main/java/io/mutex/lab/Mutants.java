package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.mutex.lab.Result.Verdict;

import org.springframework.util.FileSystemUtils;

/**
 * Plays mutants and says what has found them; {@code lab/run.sh mutants} starts it.
 */
public final class Mutants {

	private final Play play;

	private Mutants(Play play) {
		this.play = play;
	}

	public static void main(String[] arguments) throws Exception {
		double seconds = 15;
		long seed = System.nanoTime() % 1_000_000;
		Set<Mutant> chosen = EnumSet.noneOf(Mutant.class);
		for (String argument : arguments) {
			String value = argument.substring(argument.indexOf('=') + 1);
			if (argument.startsWith("--minutes=")) {
				seconds = 60 * Double.parseDouble(value);
			}
			else if (argument.startsWith("--seed=")) {
				seed = Long.parseLong(value);
			}
			else if (!argument.equals("mutants")) {
				chosen.add(Mutant.valueOf(argument));
			}
		}
		boolean all = chosen.isEmpty();
		Play play = new Play(seconds, seed);
		List<Finding> findings = new Mutants(play).of(all ? EnumSet.allOf(Mutant.class) : chosen);
		if (all) {
			Page.write("mutants", report(findings, play));
		}
		boolean strict = Boolean.parseBoolean(System.getenv("MUTEX_LAB_STRICT"));
		System.exit(findings.stream()
			.allMatch((finding) -> finding.isFound() || (finding.verdict() == Verdict.SKIPPED && !strict)) ? 0 : 1);
	}

	// all are built before the first is played, and tests and scenarios have to pass
	// without
	// a mutant
	private List<Finding> of(Set<Mutant> mutants) throws IOException {
		Map<Mutant, Path> built = new LinkedHashMap<>();
		for (Mutant mutant : mutants) {
			built.put(mutant, mutant.build());
		}
		System.out.println("seed " + this.play.seed());
		List<String> tests = mutants.stream().flatMap((mutant) -> mutant.finder().tests().stream()).distinct().toList();
		Outcome without = tests.isEmpty() ? new Outcome(List.of()) : TestRun.of(tests, List.of());
		Set<String> unfit = new TreeSet<>();
		for (Mutant.Finder finder : mutants.stream().map(Mutant::finder).distinct().toList()) {
			for (Scenario scenario : finder.scenarios()) {
				Result result = this.play.of(scenario, finder.provider(), Subject.MUTEX);
				if (result.verdict() != Verdict.PASSED) {
					unfit.add(place(scenario, finder.provider()));
				}
			}
		}
		List<Finding> findings = new ArrayList<>();
		for (Map.Entry<Mutant, Path> each : built.entrySet()) {
			Finding finding = find(each.getKey(), each.getValue(), without, unfit);
			System.out.println(finding.line());
			findings.add(finding);
			FileSystemUtils.deleteRecursively(each.getValue());
		}
		System.out.println(summary(findings));
		return findings;
	}

	private Finding find(Mutant mutant, Path classes, Outcome without, Set<String> unfit) throws IOException {
		List<String> tests = mutant.finder().tests();
		if (tests.isEmpty()) {
			return play(mutant, classes, unfit);
		}
		Set<String> broken = new HashSet<>(without.of(tests).failed().stream().map(Outcome.Test::name).toList());
		return broken.isEmpty() ? test(mutant, classes)
				: new Finding(mutant, Verdict.INVALID, "without a mutant failed " + broken, 0);
	}

	private Finding play(Mutant mutant, Path classes, Set<String> unfit) {
		Subject subject = new Subject(mutant.name(), Subject.MUTEX.main(), List.of(classes), Map.of());
		Provider provider = mutant.finder().provider();
		Finding finding = new Finding(mutant, Verdict.INVALID, "nothing was played", 0);
		for (Scenario scenario : mutant.finder().scenarios()) {
			String place = place(scenario, provider);
			if (unfit.contains(place)) {
				return new Finding(mutant, Verdict.INVALID, place + " is not passed without a mutant", 0);
			}
			Result result = this.play.of(scenario, provider, subject);
			List<Violation> violations = result.violations();
			if (!violations.isEmpty()) {
				Set<String> invariants = violations.stream()
					.map(Violation::invariant)
					.collect(Collectors.toCollection(TreeSet::new));
				long first = violations.stream().mapToLong(Violation::to).min().orElseThrow();
				return new Finding(mutant, Verdict.VIOLATED, place + ": " + String.join(", ", invariants),
						first - result.began());
			}
			finding = new Finding(mutant, result.verdict(), place + " " + result.reason(), 0);
		}
		return finding;
	}

	private static String place(Scenario scenario, Provider provider) {
		return scenario + " on " + provider.text();
	}

	private static Finding test(Mutant mutant, Path classes) throws IOException {
		Outcome outcome = TestRun.of(mutant.finder().tests(), List.of(classes));
		long millis = 0;
		for (Outcome.Test test : outcome.tests()) {
			millis += test.millis();
			if (test.verdict() == Verdict.VIOLATED) {
				System.out.println(test.message());
				return new Finding(mutant, Verdict.VIOLATED, test.name(), millis * 1_000_000);
			}
		}
		return new Finding(mutant, outcome.verdict(), String.join(", ", mutant.finder().tests()), 0);
	}

	static String report(List<Finding> findings, Play play) {
		StringBuilder text = new StringBuilder(
				"""
						`lab/run.sh mutants`, seed %d. Each row is a fault that was made in a copy of the library by replacing a few
						words of one of its sources; what is shipped has no switch for it. Either a scenario, which passed without
						it, is played with the copy, for %.0f seconds, and has to break an invariant, or tests of the library are run with it, which passed
						without it, and have to fail. The time is that from the beginning of the run to the end of the first
						violation, or what the tests took until the first one failed, servers included.

						| mutant | what is wrong | verdict | found by | after |
						|---|---|---|---|---|
						"""
					.formatted(play.seed(), play.seconds()));
		findings.forEach((finding) -> text.append(finding.line()).append('\n'));
		return text.append('\n').append(summary(findings)).append('\n').toString();
	}

	static String summary(List<Finding> findings) {
		List<Long> times = findings.stream().filter(Finding::isFound).map(Finding::nanos).sorted().toList();
		String median = times.isEmpty() ? "" : ", half of them within " + seconds(times.get((times.size() - 1) / 2));
		return "%d of %d mutants were found%s.".formatted(times.size(), findings.size(), median);
	}

	private static String seconds(long nanos) {
		return "%.1f s".formatted(nanos / 1e9);
	}

	/**
	 * What has become of a mutant.
	 *
	 * @param mutant the mutant
	 * @param verdict {@link Verdict#VIOLATED} if something has found it
	 * @param by what has found it, or was to find it
	 * @param nanos how long it took, from the beginning of the run to the end of the
	 * first violation, or in tests until the first one failed
	 */
	record Finding(Mutant mutant, Verdict verdict, String by, long nanos) {

		boolean isFound() {
			return this.verdict == Verdict.VIOLATED;
		}

		String line() {
			String text = switch (this.verdict) {
				case VIOLATED -> "FOUND";
				case PASSED -> "SURVIVED";
				case INVALID, SKIPPED -> this.verdict.name();
			};
			return "| " + String.join(" | ", this.mutant.name(), this.mutant.title(), text,
					this.by.strip().replaceAll("\\s+", " ").replace("|", "\\|"), isFound() ? seconds(this.nanos) : "")
					+ " |";
		}

	}

}
