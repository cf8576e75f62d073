package io.mutex.lab;

import java.util.Collection;
import java.util.List;

import io.mutex.lab.Result.Verdict;

/**
 * How tests have ended.
 *
 * @param tests each test that ended, was left out or could not begin
 */
record Outcome(List<Test> tests) {

	int found() {
		return this.tests.size();
	}

	long passed() {
		return this.tests.stream().filter((test) -> test.verdict() == Verdict.PASSED).count();
	}

	List<Test> failed() {
		return only(Verdict.VIOLATED);
	}

	List<Test> skipped() {
		return only(Verdict.SKIPPED);
	}

	long millis() {
		return this.tests.stream().mapToLong(Test::millis).sum();
	}

	/**
	 * What some of the selectors have shown.
	 * @param selectors the selectors
	 * @return the tests that they select
	 */
	Outcome of(Collection<String> selectors) {
		return new Outcome(
				this.tests.stream().filter((test) -> test.selectors().stream().anyMatch(selectors::contains)).toList());
	}

	/**
	 * Judges the tests: one that failed breaks what it shows, and where all are left out
	 * the machine lacks something.
	 * @return the verdict, {@link Verdict#INVALID} if there is no test
	 */
	Verdict verdict() {
		if (!failed().isEmpty()) {
			return Verdict.VIOLATED;
		}
		if (passed() > 0) {
			return Verdict.PASSED;
		}
		return this.tests.isEmpty() ? Verdict.INVALID : Verdict.SKIPPED;
	}

	private List<Test> only(Verdict verdict) {
		return this.tests.stream().filter((test) -> test.verdict() == verdict).toList();
	}

	/**
	 * One test.
	 *
	 * @param selectors what selects it
	 * @param name its class and method
	 * @param verdict how it ended: passed, violated or skipped
	 * @param message why, on one line; empty if it passed
	 * @param millis how long it took
	 */
	record Test(List<String> selectors, String name, Verdict verdict, String message, long millis) {

		private static final String SEPARATOR = "\t";

		String toLine() {
			return String.join(SEPARATOR, String.join(" ", this.selectors), line(this.name), this.verdict.name(),
					Long.toString(this.millis), line(this.message));
		}

		static Test parse(String line) {
			String[] fields = line.split(SEPARATOR, -1);
			return new Test(List.of(fields[0].split(" ")), fields[1], Verdict.valueOf(fields[2]), fields[4],
					Long.parseLong(fields[3]));
		}

		private static String line(String text) {
			return text.strip().replaceAll("\\s+", " ");
		}

	}

}
