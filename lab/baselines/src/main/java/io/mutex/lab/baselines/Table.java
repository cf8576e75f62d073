package io.mutex.lab.baselines;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

import io.mutex.lab.Result;
import io.mutex.lab.Result.Verdict;
import io.mutex.lab.Tally;

/**
 * The table that compares the libraries.
 */
final class Table {

	private Table() {
	}

	static String of(List<Baselines.Row> rows, double seconds, long seed) {
		StringBuilder text = new StringBuilder(
				"""
						`lab/run.sh baselines`, seed %d, about %.0f seconds a run. The workers, the faults, the guarded data and \
						the checker are those of Mutex above, with leases of two seconds; only the locks differ. Each library is \
						used as its documentation shows: lock, read, compute, write, unlock. A body does not ask in between \
						whether it still holds the lock, and nothing but a token that the library gives is checked by the storage.

						| fault | provider | library | grants | effects | two holders (I4) | stale writes accepted / refused | \
						lost updates (I3) | jobs run twice | take-over max (ms) | stuck keys | calls failed | verdict |
						|---|---|---|---|---|---|---|---|---|---|---|---|---|
						"""
					.formatted(seed, seconds));
		rows.forEach((row) -> text.append(line(row)).append('\n'));
		text.append("\nWhat their documentation promises, in short:\n\n");
		for (Library library : Library.values()) {
			text.append("- %s %s: %s%n".formatted(library.text(), library.version(), library.promise()));
		}
		text.append(
				"""

						A holder counts as one until its unlock returns or throws; where the documentation gives a lock a time that \
						nobody prolongs, only until that time has passed by the holder's own monotonic clock. Stale is a write that \
						began after a later grant of its key. "Calls failed" are calls that threw or lost their lock, so that the \
						application was told. Under R1 and C3 two holders are counted but not held against anybody.
						""");
		return text.toString();
	}

	static String line(Baselines.Row row) {
		Result result = row.result();
		Tally tally = result.tally();
		List<Long> takeovers = result.takeovers();
		String library = (row.contender().subject().name() + " " + row.contender().version()).strip();
		return "| " + String.join(" | ", result.scenario().name(), result.provider().text(), library,
				Long.toString(result.grants()), Long.toString(result.effects()), found(tally, "I4"),
				tally.stale() + " / " + result.refused(), found(tally, "I3"), Long.toString(tally.twice()),
				takeovers.isEmpty() ? "" : Long.toString(takeovers.get(takeovers.size() - 1)),
				Integer.toString(tally.stuck().size()), Long.toString(tally.failed()), verdict(result)) + " |";
	}

	private static String found(Tally tally, String invariant) {
		return Long.toString(tally.found().getOrDefault(invariant, 0L));
	}

	private static String verdict(Result result) {
		if (result.verdict() != Verdict.PASSED && result.verdict() != Verdict.VIOLATED) {
			return result.verdict().name().toLowerCase(Locale.ROOT) + ": "
					+ result.reason().lines().findFirst().orElse("");
		}
		List<String> faults = new ArrayList<>(new TreeSet<>(result.tally().broken()));
		if (!result.tally().stuck().isEmpty()) {
			faults.add("stuck keys");
		}
		return faults.isEmpty() ? "holds" : "violates " + String.join(", ", faults);
	}

}
