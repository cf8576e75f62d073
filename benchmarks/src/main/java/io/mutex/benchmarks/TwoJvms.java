package io.mutex.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.mutex.testing.JavaProcess;

/**
 * Two JVMs that want the same key.
 */
final class TwoJvms implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final long BEFORE_START = TimeUnit.MILLISECONDS.toNanos(200);

	private static final int HOLD_MICROS = 2000;

	private final List<JavaProcess> children = new ArrayList<>();

	private TwoJvms(String... store) {
		for (int child = 0; child < 2; child++) {
			this.children.add(JavaProcess.start(Contender.class, store));
		}
		this.children.forEach((child) -> child.awaitLine("READY", PATIENCE));
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		try (TwoJvms jvms = new TwoJvms("redis", servers.redis().host(), Integer.toString(servers.redis().port()))) {
			List<Round> mutex = new ArrayList<>();
			List<Round> redisson = new ArrayList<>();
			for (int repetition = -1; repetition < scale.repetitions(); repetition++) {
				Round ours = jvms.crowd("mutex", scale.millis() * 2);
				Round theirs = jvms.crowd("peer", scale.millis() * 2);
				if (repetition >= 0) {
					mutex.add(ours);
					redisson.add(theirs);
				}
			}
			String work = "Redis, 2 JVMs with 8 threads each on one key";
			results.add(Target.atLeast(3, "x", "RLock", work + " (template)", ratio(mutex, redisson)));
			results.add(Target.atLeast(40, "%", "of the grants for either JVM", work + " (template)",
					Spread.of(mutex.stream().mapToDouble(Round::smallerShare))));
			double longest = mutex.stream().mapToDouble(Round::longestWaitMillis).max().orElse(0);
			results.add(Target.atMost(100, "ms", "longest wait", work + " (template)", Spread.of(longest)));
			results.add(new Results.Table(work, "All rounds last the same time, in turns.",
					List.of("", "calls/s", "spread", "smaller share, %", "longest wait, ms"),
					List.of(row("MutexTemplate", mutex), row("Redisson RLock", redisson))));
			handOver(scale, results, "Redis", "Redisson RLock", jvms);
		}
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		String url = Servers.newDatabase(servers.postgres());
		new SqlStore(url, true).close();
		try (TwoJvms jvms = new TwoJvms("jdbc", url)) {
			handOver(scale, results, "PostgreSQL", "Spring Integration", jvms);
		}
	}

	private static void handOver(Scale scale, Results results, String store, String peer, TwoJvms jvms) {
		int millis = scale.millis() * scale.repetitions();
		jvms.handOvers("mutex", scale.millis());
		double[] ours = jvms.handOvers("mutex", millis);
		double[] theirs = jvms.handOvers("peer", millis);
		results.add(Target.atMost(5, "ms", "p99", store + ", hand-over between JVMs (template)",
				Spread.of(percentile(ours, 99))));
		results.add(new Results.Table(store + ", hand-over between two JVMs",
				"From the end of a hold of 2 ms in one JVM, release included, to the body of the next in the other; "
						+ "each JVM asks again at once.",
				List.of("", "hand-overs", "p50, ms", "p99, ms", "longest, ms"),
				List.of(handOverRow("MutexTemplate", ours), handOverRow(peer, theirs))));
	}

	private static List<String> handOverRow(String name, double[] millis) {
		return List.of(name, Integer.toString(millis.length), Spread.number(percentile(millis, 50)),
				Spread.number(percentile(millis, 99)), Spread.number(percentile(millis, 100)));
	}

	// What never happened took longer than can be said.
	private static double percentile(double[] sorted, int percent) {
		return (sorted.length != 0) ? sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)]
				: Double.POSITIVE_INFINITY;
	}

	private static Spread ratio(List<Round> rounds, List<Round> others) {
		double[] ratios = new double[rounds.size()];
		for (int round = 0; round < ratios.length; round++) {
			ratios[round] = rounds.get(round).perSecond() / others.get(round).perSecond();
		}
		return Spread.of(ratios);
	}

	private static List<String> row(String name, List<Round> rounds) {
		Spread perSecond = Spread.of(rounds.stream().mapToDouble(Round::perSecond));
		Spread share = Spread.of(rounds.stream().mapToDouble(Round::smallerShare));
		double longest = rounds.stream().mapToDouble(Round::longestWaitMillis).max().orElse(0);
		return List.of(name, perSecond.middle(), perSecond.range(), share.middle() + " (" + share.range() + ")",
				Spread.number(longest));
	}

	private Round crowd(String what, int millis) {
		List<String> answers = ask("crowd " + what, millis, Integer.toString(HotKey.THREADS));
		long[] calls = answers.stream().mapToLong((answer) -> Long.parseLong(answer.split(" ")[1])).toArray();
		double longest = answers.stream()
			.mapToDouble((answer) -> Double.parseDouble(answer.split(" ")[2]))
			.max()
			.orElse(0);
		return new Round(calls[0], calls[1], millis, longest);
	}

	private double[] handOvers(String what, int millis) {
		List<long[]> holds = new ArrayList<>();
		List<String> answers = ask("hand-over " + what, millis, Integer.toString(HOLD_MICROS));
		for (int child = 0; child < answers.size(); child++) {
			int jvm = child;
			String list = answers.get(child).substring("RESULT ".length());
			Stream.of(list.split(","))
				.filter((hold) -> !hold.isEmpty())
				.map((hold) -> hold.split(":"))
				.forEach((hold) -> holds.add(new long[] { Long.parseLong(hold[0]), Long.parseLong(hold[1]), jvm }));
		}
		holds.sort(Comparator.comparingLong((hold) -> hold[0]));
		double[] millisOver = new double[holds.size()];
		int count = 0;
		for (int i = 1; i < holds.size(); i++) {
			long[] before = holds.get(i - 1);
			long[] next = holds.get(i);
			if (next[0] < before[1]) {
				throw new IllegalStateException("two were inside at once");
			}
			if (next[2] != before[2]) {
				millisOver[count++] = (next[0] - before[1]) / 1e6;
			}
		}
		double[] sorted = Arrays.copyOf(millisOver, count);
		Arrays.sort(sorted);
		return sorted;
	}

	private List<String> ask(String what, int millis, String argument) {
		long start = System.nanoTime() + BEFORE_START;
		this.children.forEach((child) -> child.sendLine(what + " " + start + " " + millis + " " + argument));
		return this.children.stream().map((child) -> child.awaitLine("RESULT ", PATIENCE)).toList();
	}

	@Override
	public void close() {
		this.children.forEach(JavaProcess::close);
	}

	private record Round(long one, long other, int millis, double longestWaitMillis) {

		double perSecond() {
			return (this.one + this.other) * 1000.0 / this.millis;
		}

		double smallerShare() {
			return 100.0 * Math.min(this.one, this.other) / Math.max(1, this.one + this.other);
		}

	}

}
