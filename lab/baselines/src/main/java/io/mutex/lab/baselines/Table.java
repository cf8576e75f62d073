package io.mutex.lab.baselines;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

import io.mutex.lab.Play;
import io.mutex.lab.Provider;
import io.mutex.lab.Result;
import io.mutex.lab.Result.Verdict;
import io.mutex.lab.Tally;

/**
 * The table that compares the libraries.
 */
final class Table {

	private Table() {
	}

	static String of(Collection<Baselines.Row> rows, Play play, int parallel) {
		StringBuilder text = new StringBuilder(
				"""
						`lab/run.sh baselines`, seed %d, about %.0f seconds a run, %d runs at a time. The workers, the faults, the guarded data and
						the checker are those of Mutex above, with leases of two seconds; only the locks differ. Each library is
						used as its documentation shows: lock, read, compute, write, unlock. A body does not ask in between
						whether it still holds the lock, and nothing but a token that the library gives is checked by the storage.

						| fault | provider | library | grants | effects | two holders (I4) | stale writes accepted / refused | \
						lost updates (I3) | take-over max (ms) | stuck keys | calls failed | stall (ms) | verdict |
						|---|---|---|---|---|---|---|---|---|---|---|---|---|
						"""
					.formatted(play.seed(), play.seconds(), parallel));
		rows.forEach((row) -> text.append(line(row)).append('\n'));
		text.append("\nWhat their documentation promises, in short:\n\n");
		for (Library library : Library.values()) {
			text.append("- %s %s: %s\n".formatted(library.text(), library.version(),
					library.promise().strip().replace("\n", "\n  ")));
		}
		text.append(
				"""

						A holder counts as one until its unlock returns or throws; where the documentation gives a lock a time that
						nobody prolongs, only until that time has passed by the holder's own monotonic clock. Stale is a write that
						began after a later grant of its key. "Calls failed" are calls that threw or lost their lock, so that the
						application was told. Under R1 and C3 two holders are counted but not held against anybody. "Stall" is the
						longest time by which a body took longer than it meant to while no fault was on, because the machine did
						not let it run; where that is more than half of a lease, a violation says nothing about the fault and is
						not judged.
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
				tally.stale() + " / " + result.refused(), found(tally, "I3"),
				takeovers.isEmpty() ? "" : Long.toString(takeovers.get(takeovers.size() - 1)),
				Integer.toString(tally.stuck().size()), Long.toString(tally.failed()), Long.toString(tally.stall()),
				verdict(result)) + " |";
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
		if (faults.isEmpty()) {
			return "holds";
		}
		boolean stalled = result.tally().stall() > Provider.LEASE.dividedBy(2).toMillis();
		return (stalled ? "not judged, the machine stalled; would be: " : "violates ") + String.join(", ", faults);
	}

}
