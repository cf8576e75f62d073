package io.mutex.lab;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

import io.mutex.lab.Result.Verdict;
import io.mutex.testing.JavaProcess;

/**
 * Runs tests of the library in a JVM of their own.
 */
final class TestRun {

	/**
	 * The system property with the class path of the tests: their classes, those of the
	 * library, and what these need.
	 */
	static final String CLASS_PATH = "lab.test.classpath";

	private static final Duration LIMIT = Duration.ofMinutes(30);

	private static final int LAST = 3;

	private TestRun() {
	}

	/**
	 * Runs tests.
	 * @param selectors classes, {@code io.mutex.x.FooTests}, or the methods of a name in
	 * one, {@code io.mutex.x.FooTests#name}, or only the second invocation of a
	 * parameterized one, {@code io.mutex.x.FooTests#name[2]}; each is looked for in what
	 * comes out by {@link Outcome#of}
	 * @param preferred directories or jars whose classes come before those of the class
	 * path
	 * @return how they ended; a JVM that died is a failed test of each selector whose
	 * class had not ended
	 * @throws IOException if the outcome cannot be read
	 */
	static Outcome of(List<String> selectors, List<Path> preferred) throws IOException {
		return of(selectors, preferred, LIMIT);
	}

	static Outcome of(List<String> selectors, List<Path> preferred, Duration limit) throws IOException {
		Path report = Files.createTempFile("mutex-lab-tests-", ".tsv");
		String died = "";
		try (JavaProcess tests = JavaProcess.of(TestJvm.class)
			.jvmArguments("-Xmx768m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", classPath(preferred))
			.start(command(report, selectors))) {
			try {
				tests.awaitLine(TestJvm.DONE, limit);
			}
			catch (AssertionError ex) {
				List<String> output = tests.output();
				died = "did not end by itself: " + output.subList(Math.max(0, output.size() - LAST), output.size());
			}
		}
		Outcome outcome = read(Files.readAllLines(report), selectors, died);
		Files.delete(report);
		return outcome;
	}

	static Outcome read(List<String> lines, List<String> selectors, String died) {
		List<Outcome.Test> tests = new ArrayList<>();
		Set<String> ended = new HashSet<>();
		for (String line : lines) {
			if (line.startsWith(TestJvm.ENDED)) {
				ended.add(line.substring(TestJvm.ENDED.length()));
			}
			else {
				tests.add(Outcome.Test.parse(line));
			}
		}
		List<String> open = selectors.stream()
			.filter((selector) -> !ended.contains(selector.replaceFirst("#.*", "")))
			.toList();
		if (!died.isEmpty() && !open.isEmpty()) {
			tests.add(new Outcome.Test(open, "JVM of the tests", Verdict.VIOLATED, died, 0));
		}
		return new Outcome(List.copyOf(tests));
	}

	private static String[] command(Path report, List<String> selectors) {
		List<String> command = new ArrayList<>(List.of(report.toString()));
		command.addAll(selectors);
		return command.toArray(String[]::new);
	}

	private static String classPath(List<Path> preferred) {
		String tests = System.getProperty(CLASS_PATH);
		if (tests == null) {
			throw new IllegalStateException("The system property " + CLASS_PATH + " is not set, see lab/run.sh");
		}
		StringJoiner path = new StringJoiner(File.pathSeparator);
		preferred.forEach((entry) -> path.add(entry.toString()));
		path.add(tests);
		path.add(Path.of(TestRun.class.getProtectionDomain().getCodeSource().getLocation().getPath()).toString());
		return path.toString();
	}

}
