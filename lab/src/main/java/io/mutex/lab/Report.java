package io.mutex.lab;

import java.util.List;

/**
 * The tables of what the laboratory has found.
 */
final class Report {

	private Report() {
	}

	static String faults(List<Result> results, Play play, int parallel) {
		StringBuilder text = new StringBuilder(
				"""
						`lab/run.sh all`, seed %d. Each row is one run: three applications take three locks and jobs with leases
						of two seconds while the fault is made to happen again and again for %.0f seconds, or up to four times as
						long until it has taken effect; %d runs are under way at a time.

						| fault | what happens | provider | verdict | grants | effects | stale writes attempted | refused | accepted | \
						take-over p50 / max (ms) |
						|---|---|---|---|---|---|---|---|---|---|
						"""
					.formatted(play.seed(), play.seconds(), parallel));
		results.forEach((result) -> text.append(result.line()).append('\n'));
		results.stream()
			.filter((result) -> !result.reason().isEmpty())
			.forEach((result) -> text.append("\n%s on %s:\n\n```\n%s\n```\n".formatted(result.scenario(),
					result.provider().text(), result.reason().strip())));
		text.append(
				"""

						"Effects" counts what the fault has visibly hit. Where it meets a holder (P2, P5, N4, N6, C5, C7, F8) these are
						the leases of that worker which it had before the fault and lost by it; for a kill the take-overs; for
						lost answers, ended sessions and forgotten scripts these themselves; otherwise the calls of the workers that it meets
						which ended lost, refused or without an answer while it lasted or within two leases (on Redis three) after it.
						F10 counts rounds of all three. A write is stale if it was sent after a later grant of its key; it is accepted if its
						holder was told so or if it is in the data.

						An invariant is lifted only from a fault until two leases (on Redis three; two seconds in F8) after it, and six
						seconds later, at the earliest, the next fault comes: I4 where a clock runs slow by more than the margin of a lease (C7_FAR); I4, I5
						and I9 where the clock of the server jumps (C3, C4) or the lock files are removed (F8), and I6 too where Redis
						loses data (R1, R5, R7; guarded in PostgreSQL in R1 and R7): a lease cannot survive its store, but the tokens
						and the guard must. Take-over counts from the moment at which the death was seen, and only where no other
						fault was at work before its bound.
						""");
		return text.toString();
	}

	static String trials(List<TrialResult> results) {
		StringBuilder text = new StringBuilder(
				"""
						Some faults are shown better by one deterministic test than by random ones. Each row runs the tests that
						show its safe outcome, against real servers and processes; a test that this machine lacks a tool for makes
						its row SKIPPED, and one that is not found makes it INVALID.

						| id | what happens | shown by | tests | verdict | seconds |
						|---|---|---|---|---|---|
						""");
		results.forEach((result) -> text.append(result.line()).append('\n'));
		results.forEach((result) -> result.reasons().forEach((reason) -> text.append("\n- ").append(reason)));
		return text.toString();
	}

}
