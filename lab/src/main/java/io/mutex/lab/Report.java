package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The page about what the laboratory has found.
 */
final class Report {

	private Report() {
	}

	static void write(Path file, List<Result> results, double seconds, long seed) throws IOException {
		StringBuilder text = new StringBuilder(
				"""
						# Reliability

						Written by `lab/run.sh all`. Each row is one run: three applications with the starter in processes of their
						own take three locks and jobs, with leases of two seconds, against a real server, while the fault is made to
						happen again and again for about %.0f seconds (seed %d). Every process writes down what it does, the guarded
						data carries the log of its own writes, and a checker looks for broken invariants afterwards. A run in which
						no fault took effect is INVALID.

						"""
					.formatted(seconds, seed));
		text.append("| fault | what happens | provider | verdict | grants | effects | stale writes refused "
				+ "| accepted | take-over p50 / max (ms) |\n|---|---|---|---|---|---|---|---|---|\n");
		results.forEach((result) -> text.append(result.line()).append('\n'));
		results.stream()
			.filter((result) -> !result.reason().isEmpty())
			.forEach((result) -> text.append("\n%s on %s:\n\n```\n%s\n```\n".formatted(result.scenario(),
					result.provider().text(), result.reason().strip())));
		text.append(
				"""

						## What is checked

						| invariant | rule |
						|---|---|
						| I1 | tokens of a key are unique, and ordered in real time |
						| I2 | once a grant is registered, no write of an earlier one is accepted |
						| I3 | no update of guarded data is lost, none that was refused is in it |
						| I4 | no two holders think at once, by their own clocks, that they hold a key |
						| I5 | a release by another than the owner changes nothing |
						| I6 | at most one record for each unit |
						| I7 | no body runs without a grant |
						| I8 | after a death the next grant comes within lease and poll (3 s are allowed for them and the machine beyond the lease) |
						| I9 | a listing changes nothing |

						Lifted are I4, I5 and I9 under C3, where the clock of the server jumps, and I4, I5, I6, I8 and I9 under R1, where
						it loses its data (which is guarded in PostgreSQL there): a lease cannot survive its store, but the tokens and
						the guard must.

						"Effects" counts what the fault has visibly hit: calls that ended lost, refused or unknown while it lasted or
						within a lease after it; for kills the take-overs; for lost answers, ended sessions and forgotten scripts these
						themselves.

						## To repeat it

						```
						lab/run.sh all --short                             every fault on every provider that it fits
						lab/run.sh P2 --provider=redis --minutes=1 --seed=7
						lab/run.sh soak --minutes=20                       random faults from a printed seed
						JAVA_OPTS=-Dlab.split=true lab/run.sh N2 --short   locks that grant twice: must be reported
						JAVA_OPTS=-Dlab.unfenced=true lab/run.sh P2        writes without a guard: must be reported
						```

						`MUTEX_LAB_STRICT=true` makes a scenario fail that the machine lacks the tools for.

						## Limits

						All processes share one host, one kernel and one monotonic clock: drift of clocks, real networks and real disks
						are not shown. The seed fixes what the faults are and when they come, not how threads interleave. The seconds of
						each run are few; a soak says more.
						""");
		Files.writeString(file, text);
	}

}
