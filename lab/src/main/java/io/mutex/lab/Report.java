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
						of two seconds while the fault is made to happen again and again for about %.0f seconds; %d runs are under
						way at a time.

						| fault | what happens | provider | verdict | grants | effects | stale writes refused | accepted | \
						take-over p50 / max (ms) |
						|---|---|---|---|---|---|---|---|---|
						"""
					.formatted(play.seed(), play.seconds(), parallel));
		results.forEach((result) -> text.append(result.line()).append('\n'));
		results.stream()
			.filter((result) -> !result.reason().isEmpty())
			.forEach((result) -> text.append("\n%s on %s:\n\n```\n%s\n```\n".formatted(result.scenario(),
					result.provider().text(), result.reason().strip())));
		text.append(
				"""

						"Effects" counts what the fault has visibly hit: calls that ended lost, refused or unknown while it lasted
						or within a lease after it; for kills the take-overs; for lost answers, ended sessions and forgotten
						scripts these themselves. An invariant is lifted only from a fault until two
						leases (on Redis three) after it: I4, I5 and I9 where the clock of the server jumps (C3, C4) or the lock
						files are removed (F8), and I6 too where Redis loses data (R1, R5, R7; guarded in PostgreSQL in R1 and R7):
						a lease cannot survive its store, but the tokens and the guard must. Take-over counts from the moment at
						which the death was seen, and only where no other fault was at work.
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
