package io.mutex.lab;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.mutex.lab.Result.Verdict;

/**
 * What the tests of a trial have shown.
 *
 * @param trial the trial
 * @param outcome how its tests have ended
 */
record TrialResult(Trial trial, Outcome outcome) {

	/**
	 * Takes the tests of one trial out of those of all.
	 * @param trial the trial
	 * @param all how all tests have ended
	 * @return the result
	 */
	static TrialResult of(Trial trial, Outcome all) {
		return new TrialResult(trial, all.of(trial.selectors()));
	}

	/**
	 * Judges the trial by what each of its selectors has shown.
	 * @return the verdict, {@link Verdict#PASSED} if there is a test of each selector
	 * that passed, and none that failed
	 */
	Verdict verdict() {
		Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
		verdicts.add(this.trial.lacks().isEmpty() ? Verdict.PASSED : Verdict.SKIPPED);
		this.trial.selectors().forEach((selector) -> verdicts.add(this.outcome.of(Set.of(selector)).verdict()));
		return Stream.of(Verdict.VIOLATED, Verdict.INVALID, Verdict.SKIPPED)
			.filter(verdicts::contains)
			.findFirst()
			.orElse(Verdict.PASSED);
	}

	String line() {
		String classes = this.trial.selectors()
			.stream()
			.map((selector) -> "`" + selector.replaceFirst("#.*", "").replaceFirst(".*\\.", "") + "`")
			.distinct()
			.collect(Collectors.joining(", "));
		return "| " + String.join(" | ", this.trial.name(), this.trial.title(), classes,
				Integer.toString(this.outcome.found()), verdict().name(),
				String.format(Locale.ROOT, "%.1f", this.outcome.millis() / 1000.0)) + " |";
	}

	/**
	 * Says which tests have failed, and what was not shown.
	 * @return a line for each
	 */
	List<String> reasons() {
		List<String> reasons = new ArrayList<>();
		if (!this.trial.lacks().isEmpty()) {
			reasons.add(this.trial.name() + ": " + this.trial.lacks());
		}
		this.outcome.failed().forEach((test) -> reasons.add(reason(test, "failed")));
		for (String selector : this.trial.selectors()) {
			Outcome own = this.outcome.of(Set.of(selector));
			if (own.found() == 0) {
				reasons.add(this.trial.name() + ": no test is " + selector);
			}
			if (own.verdict() == Verdict.SKIPPED) {
				own.skipped().forEach((test) -> reasons.add(reason(test, "was left out")));
			}
		}
		return reasons;
	}

	private String reason(Outcome.Test test, String what) {
		return this.trial.name() + ": " + test.name() + " " + what + ": " + test.message();
	}

}
