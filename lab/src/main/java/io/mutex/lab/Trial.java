package io.mutex.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.mutex.lab.Result.Verdict;

/**
 * The faults and cases that tests of the library show best, by the names that the
 * documentation gives them.
 */
enum Trial {

	J12("names differ in case or in trailing spaces",
			"jdbc.MariaDbLockProviderTests#keysThatDifferOnlyInCaseAreHeldAtTheSameTime"),

	R10("the numbers of Lua scripts are doubles", "redis.RedisCommandTests#largeNumbersAreExact",
			"redis.RedisFenceGuardTests#greatTokensAreToldApart");

	private static final String ROOT = "io.mutex.";

	private final String title;

	@SuppressWarnings("ImmutableEnumChecker")
	private final List<String> selectors;

	Trial(String title, String... selectors) {
		this.title = title;
		this.selectors = Arrays.stream(selectors).map((selector) -> ROOT + selector).toList();
	}

	String title() {
		return this.title;
	}

	List<String> selectors() {
		return this.selectors;
	}

	/**
	 * Judges the trial by what each of its selectors has shown.
	 * @param outcome how the tests have ended, those of other trials too
	 * @return the verdict, {@link Verdict#PASSED} if there is a test of each selector
	 * that passed, and none that failed
	 */
	Verdict verdict(Outcome outcome) {
		Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
		this.selectors.forEach((selector) -> verdicts.add(outcome.of(Set.of(selector)).verdict()));
		return Stream.of(Verdict.VIOLATED, Verdict.INVALID, Verdict.SKIPPED)
			.filter(verdicts::contains)
			.findFirst()
			.orElse(Verdict.PASSED);
	}

	String line(Outcome outcome) {
		Outcome own = outcome.of(this.selectors);
		String classes = this.selectors.stream()
			.map((selector) -> "`" + selector.replaceFirst("#.*", "").replaceFirst(".*\\.", "") + "`")
			.distinct()
			.collect(Collectors.joining(", "));
		return "| " + String.join(" | ", name(), this.title, classes, Integer.toString(own.found()),
				verdict(outcome).name(), String.format(Locale.ROOT, "%.1f", own.millis() / 1000.0)) + " |";
	}

	/**
	 * Says why tests have failed or were left out, and what has no test.
	 * @param outcome how the tests have ended
	 * @return a line for each
	 */
	List<String> reasons(Outcome outcome) {
		List<String> reasons = new ArrayList<>();
		for (String selector : this.selectors) {
			Outcome own = outcome.of(Set.of(selector));
			if (own.found() == 0) {
				reasons.add(name() + ": no test is " + selector);
			}
			own.failed().forEach((test) -> reasons.add(name() + ": " + test.name() + " failed: " + test.message()));
			if (own.verdict() == Verdict.SKIPPED) {
				own.skipped()
					.forEach((test) -> reasons.add(name() + ": " + test.name() + " was left out: " + test.message()));
			}
		}
		return reasons;
	}

}
