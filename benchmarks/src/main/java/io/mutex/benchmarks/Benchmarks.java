package io.mutex.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures everything, or what is named, and writes the report.
 */
public final class Benchmarks {

	private static final Logger logger = LoggerFactory.getLogger(Benchmarks.class);

	private static final Map<String, Experiment> EXPERIMENTS = experiments();

	private Benchmarks() {
	}

	/**
	 * Measures.
	 * @param arguments the scale, the directory of the report, and the names of the
	 * experiments if not all are meant
	 * @throws Exception if something cannot be measured
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream out = System.out;
		Scale scale = Scale.of(arguments[0]);
		Path directory = Path.of(arguments[1]);
		Results results = new Results();
		double load = Machine.load();
		long begin = System.nanoTime();
		try (Servers servers = new Servers()) {
			for (Map.Entry<String, Experiment> experiment : EXPERIMENTS.entrySet()) {
				if (isChosen(experiment.getKey(), arguments)) {
					long start = System.nanoTime();
					measure(experiment.getKey(), experiment.getValue(), scale, servers, results);
					out.printf("%s: %d s%n", experiment.getKey(), (System.nanoTime() - start) / 1_000_000_000);
				}
			}
			String circumstances = circumstances(servers, load, (System.nanoTime() - begin) / 60e9);
			write(directory, results, "benchmarks/run.sh --" + scale.name(), circumstances);
		}
		out.println();
		out.print(Report.targets(results));
		// JMH and some clients leave threads behind
		System.exit(0);
	}

	// One that fails is reported as a missed target, and does not cost the others.
	private static void measure(String name, Experiment experiment, Scale scale, Servers servers, Results results) {
		try {
			experiment.measure(scale, servers, results);
		}
		catch (Exception ex) {
			logger.error("The experiment {} failed", name, ex);
			results
				.add(Target.atMost(0, "", "failures", "The experiment " + name + ": " + ex.getMessage(), Spread.of(1)));
		}
	}

	private static boolean isChosen(String name, String[] arguments) {
		for (int i = 2; i < arguments.length; i++) {
			if (arguments[i].equals(name)) {
				return true;
			}
		}
		return arguments.length == 2;
	}

	private static String circumstances(Servers servers, double load, double minutes) throws Exception {
		return "On " + LocalDate.now() + ", on " + Machine.description() + ", with " + Machine.versions(servers)
				+ "; load average before the run " + Spread.number(load) + "; it took " + Spread.number(minutes)
				+ " minutes. The databases flush every commit; Redis keeps its data in memory alone.\nLibraries: "
				+ Machine.libraries() + ".\n";
	}

	private static void write(Path directory, Results results, String command, String circumstances)
			throws IOException {
		Files.createDirectories(directory);
		Files.writeString(directory.resolve("performance.md"), Report.document(results, command, circumstances));
		if (!results.groups().isEmpty()) {
			Files.writeString(directory.resolve(Report.PICTURE), Chart.draw(results.groups()));
		}
	}

	private static Map<String, Experiment> experiments() {
		Map<String, Experiment> experiments = new LinkedHashMap<>();
		experiments.put("redis", Uncontended::redis);
		experiments.put("postgres", Uncontended::postgres);
		experiments.put("mariadb", Uncontended::mariaDb);
		experiments.put("hot-redis", HotKey::redis);
		experiments.put("hot-postgres", HotKey::postgres);
		experiments.put("jvms-redis", TwoJvms::redis);
		experiments.put("jvms-postgres", TwoJvms::postgres);
		experiments.put("leases-redis", ManyLeases::redis);
		experiments.put("leases-postgres", ManyLeases::postgres);
		experiments.put("ticks-redis", Ticks::redis);
		experiments.put("ticks-postgres", Ticks::postgres);
		experiments.put("size", Footprint::size);
		experiments.put("interceptor", InterceptorBenchmark::measure);
		experiments.put("keys-redis", Footprint::redis);
		experiments.put("keys-postgres", Footprint::postgres);
		experiments.put("local", LocalQueues::measure);
		experiments.put("files", FileLocks::measure);
		return experiments;
	}

}
