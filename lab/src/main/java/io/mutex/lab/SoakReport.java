package io.mutex.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.mutex.lab.Result.Verdict;

/**
 * Long runs under all faults, and the table of what they have counted.
 */
final class SoakReport {

	private static final String HEAD = """
			`lab/run.sh soak`, seed %d, which alone decides which faults come in which order. Three applications take three
			locks and jobs with leases of two seconds on each provider for %.0f minutes, %d providers at a time, while faults
			of all kinds strike, half of the time two at once. An invariant is lifted only by a fault that lifts it, from its
			beginning until two leases (on Redis three; two seconds in F8) after its end.

			| provider | verdict | grants | faults | stale writes attempted | refused | unanswered | accepted \
			| kept back by the holder's own clock | take-overs | p50 / p99 / max (bound), ms | leases lost without a fault \
			| acquisitions unanswered | writes unanswered (of them done) |
			|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
			""";

	private static final String FOOT = """

			A write is stale if it was sent to the storage after another grant of its key. A holder whose lease ended between
			its read and its write sends it all the same: where the library keeps it back, since the holder's own clock says so,
			the worker waits for a second and asks the guard itself, as one does who was paused after a look at the clock.
			Take-overs are counted from the death of a holder, where no other fault was at work. The guarded data of the run
			on Redis is in a second Redis, since the first one loses its data. Whether an unanswered write was done is looked
			up in the data; an unanswered acquisition ran no body. Lost leases are counted from the first fault on, since the
			applications warm up before it; a fault of one worker explains no loss of another one.
			""";

	private SoakReport() {
	}

	/**
	 * Plays the soak.
	 * @param play how long, and from which seed
	 * @param providers where the locks are
	 * @param parallel how many at a time
	 * @return a row for each provider
	 */
	static List<Row> play(Play play, Set<Provider> providers, int parallel) {
		List<Row> rows = new ArrayList<>();
		Play.each(providers.stream()
			.<Supplier<Row>>map((provider) -> () -> new Row(play.of(Scenario.SOAK, provider, Subject.MUTEX)))
			.toList(), parallel, (row) -> {
				rows.add(row);
				System.out.println(row.line());
				if (!row.reason().isEmpty()) {
					System.out.println(row.reason());
				}
			});
		return rows;
	}

	static String text(List<Row> rows, Play play, int parallel) {
		StringBuilder text = new StringBuilder(HEAD.formatted(play.seed(), play.seconds() / 60, parallel));
		rows.forEach((row) -> text.append(row.line()).append('\n'));
		text.append(FOOT).append('\n');
		rows.forEach((row) -> text.append("Faults on ")
			.append(row.result().provider().text())
			.append(": ")
			.append(row.faults())
			.append(".\n\n"));
		rows.stream()
			.filter((row) -> !row.reason().isEmpty())
			.forEach((row) -> text
				.append("%s:\n\n```\n%s\n```\n\n".formatted(row.result().provider().text(), row.reason().strip())));
		return text.toString();
	}

	/**
	 * What was shown on one provider.
	 *
	 * @param result the judgement of the history
	 */
	record Row(Result result) {

		/**
		 * How the run ended; a lease that was lost without a fault is a failure too, and
		 * a run without stale writes proves nothing of the guard.
		 * @return the verdict
		 */
		Verdict verdict() {
			if (this.result.verdict() != Verdict.PASSED) {
				return this.result.verdict();
			}
			if (this.result.figures().lost() > 0) {
				return Verdict.VIOLATED;
			}
			return (this.result.figures().attempted() > 0) ? Verdict.PASSED : Verdict.INVALID;
		}

		String reason() {
			if (this.result.verdict() != Verdict.PASSED) {
				return this.result.reason();
			}
			return switch (verdict()) {
				case VIOLATED -> this.result.figures().lost() + " leases were lost although no fault was near";
				case INVALID -> "no stale write reached the storage";
				default -> "";
			};
		}

		String faults() {
			return this.result.figures()
				.faults()
				.entrySet()
				.stream()
				.map((fault) -> fault.getKey() + " " + fault.getValue())
				.collect(Collectors.joining(", "));
		}

		String line() {
			List<Long> times = this.result.takeovers();
			String takeover = times.isEmpty() ? ""
					: "%d / %d / %d (%d)".formatted(times.get(times.size() / 2),
							times.get(Math.min(times.size() - 1, times.size() * 99 / 100)), times.get(times.size() - 1),
							this.result.provider().takeover().toMillis());
			long faults = this.result.figures().faults().values().stream().mapToLong(Long::longValue).sum();
			return "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %d | %d | %d (%d) |".formatted(
					this.result.provider().text(), verdict(), this.result.grants(), faults,
					this.result.figures().attempted(), this.result.figures().refused(), this.result.figures().unknown(),
					this.result.figures().accepted(), this.result.figures().keptBack(), times.size(), takeover,
					this.result.figures().lost(), this.result.figures().unanswered(), this.result.figures().doubtful(),
					this.result.figures().done());
		}

	}

}
