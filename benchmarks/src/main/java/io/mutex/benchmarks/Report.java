package io.mutex.benchmarks;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes what was measured as Markdown.
 */
final class Report {

	static final String PICTURE = "performance.svg";

	private static final String INTRODUCTION = """
			# Performance

			Read the ratios, not the microseconds: both sides of a ratio are measured in one process on the same server,
			in rounds that alternate, and their medians are divided within each repetition; the table gives the middle
			of these ratios and, as spread, the lowest and the highest. Absolute times move with the machine, its disk
			and what else it does, and so do ratios of unlike things: a bare call gains most from a faster processor, a
			call that waits for a disk or a network hides what is added to it. A ratio below 1 is faster than what it is
			compared with; for throughput, above 1 is. "Provider" is the store alone, "template" is `MutexTemplate`,
			what an application calls, with waiting, renewal and listeners. A target that is not met says **missed**.

			""";

	private Report() {
	}

	static String targets(Results results) {
		return table(List.of("work", "target", "measured", "spread", ""), results.targets().stream().map(Report::row));
	}

	private static List<String> row(Target target) {
		String unit = target.unit().isEmpty() ? "" : " " + target.unit();
		return List.of(target.work(), target.limit(), target.measured().middle() + unit, target.measured().range(),
				target.isMet() ? "met" : "**missed**");
	}

	static String document(Results results, String command, String circumstances) {
		StringBuilder text = new StringBuilder(INTRODUCTION);
		text.append(circumstances);
		text.append("\nMeasured by `").append(command).append("`.\n\n## Targets\n\n").append(targets(results));
		if (!results.groups().isEmpty()) {
			text.append("\n![Time of acquire and release beside the peers](").append(PICTURE).append(")\n");
		}
		text.append("\n## Figures\n");
		for (Results.Table table : results.tables()) {
			text.append("\n### ").append(table.title()).append("\n\n").append(table.notes()).append("\n\n");
			text.append(table(table.head(), table.rows().stream()));
		}
		return text.toString();
	}

	private static String table(List<String> head, Stream<List<String>> rows) {
		List<String> rule = head.stream().map((name) -> "---").toList();
		return Stream.concat(Stream.of(head, rule), rows)
			.map((cells) -> cells.stream().collect(Collectors.joining(" | ", "| ", " |")).replace("|  |", "| |"))
			.collect(Collectors.joining("\n", "", "\n"));
	}

}
