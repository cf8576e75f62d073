package io.mutex.lab;

import java.util.List;

import io.mutex.lab.Event.Kind;

/**
 * What one run has shown.
 *
 * @param scenario the fault
 * @param provider where the locks were
 * @param verdict how it ended
 * @param reason why, if it was not passed
 * @param grants how many grants there were
 * @param effects how often the fault took effect
 * @param figures what a long run counts
 * @param takeovers the times from a death to the next grant, in milliseconds, sorted
 * @param began when its history begins, in nanoseconds
 * @param violations the invariants that were broken, the earliest first
 * @param tally what else was counted
 */
public record Result(Scenario scenario, Provider provider, Verdict verdict, String reason, long grants, long effects,
		Figures figures, List<Long> takeovers, long began, List<Violation> violations, Tally tally) {

	static Result without(Scenario scenario, Provider provider, Verdict verdict, String reason) {
		return new Result(scenario, provider, verdict, reason, 0, 0, Figures.NONE, List.of(), 0, List.of(), Tally.NONE);
	}

	/**
	 * Judges a run.
	 * @param scenario the fault
	 * @param provider where the locks were
	 * @param history what was written down
	 * @param effects how often the fault took effect
	 * @return the result; {@link Verdict#INVALID} if no fault took effect
	 */
	static Result of(Scenario scenario, Provider provider, History history, long effects) {
		Allowance allowance = scenario.allowance(provider, history);
		List<Violation> all = Checker.check(history, Allowance.of(allowance.takeover()));
		List<Violation> violations = all.stream().filter((violation) -> !allowance.allows(violation)).toList();
		List<Long> takeovers = Takeover.of(history)
			.stream()
			.filter((takeover) -> allowance.isUndisturbed(takeover.from(), takeover.to()))
			.map((takeover) -> takeover.nanos() / 1_000_000)
			.sorted()
			.toList();
		long grants = history.count(Kind.GRANTED);
		Verdict verdict = Verdict.PASSED;
		String reason = "";
		if (!violations.isEmpty()) {
			verdict = Verdict.VIOLATED;
			reason = violations.size() + " violations of "
					+ violations.stream().map(Violation::invariant).distinct().sorted().toList() + ", first:\n"
					+ history.timeline(violations.get(0));
		}
		else if (effects == 0 || grants == 0) {
			verdict = Verdict.INVALID;
			reason = "no fault took effect";
		}
		return new Result(scenario, provider, verdict, reason, grants, effects,
				Figures.of(history, allowance.windows()), takeovers, history.began(), violations,
				Tally.of(history, all, violations));
	}

	String line() {
		String takeover = this.takeovers.isEmpty() ? ""
				: this.takeovers.get(this.takeovers.size() / 2) + " / " + this.takeovers.get(this.takeovers.size() - 1);
		return "| " + String.join(" | ", this.scenario.name(), this.scenario.title(), this.provider.text(),
				this.verdict.name(), Long.toString(this.grants), Long.toString(this.effects),
				Long.toString(this.figures.attempted()), Long.toString(this.figures.refused()),
				Long.toString(this.figures.accepted()), takeover) + " |";
	}

	/**
	 * How many writes that began after a later grant the storage has refused.
	 * @return the number
	 */
	public long refused() {
		return this.figures.refused();
	}

	/**
	 * How a run ended.
	 */
	public enum Verdict {

		/** The fault took effect, and every invariant held. */
		PASSED,
		/** An invariant was broken. */
		VIOLATED,
		/** The fault did not take effect: nothing is shown. */
		INVALID,
		/** The machine lacks what the fault needs. */
		SKIPPED

	}

}
