package io.mutex.proof;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.mutex.Lease;

/**
 * What workers write to: for each key a number, and one line for each write that was
 * accepted.
 */
interface Ledger extends AutoCloseable {

	/**
	 * Reads the number of a key, adds 1 and writes it back with its line.
	 * @param lease the lease of the key
	 * @param passing told at each place that the work passes
	 */
	void add(Lease lease, Consumer<Place> passing);

	/**
	 * All writes to a key that were accepted.
	 * @param key the key
	 * @return the writes in the order in which they were accepted
	 */
	List<Line> lines(String key);

	@Override
	void close();

	/**
	 * A write.
	 *
	 * @param number what was written: the number that was read, and 1
	 * @param token the token under which it was written
	 * @param nonce the nonce under which it was written
	 */
	record Line(long number, long token, String nonce) {

		static Line next(List<Line> lines, Lease lease) {
			return new Line(lines.size() + 1, lease.token().value(), lease.nonce());
		}

		static List<Line> parse(String text) {
			return text.lines()
				.map((line) -> line.split(" "))
				.map((words) -> new Line(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2]))
				.collect(Collectors.toCollection(ArrayList::new));
		}

		static String format(List<Line> lines, Line next) {
			List<Line> all = new ArrayList<>(lines);
			all.add(next);
			return all.stream().map(Line::toString).collect(Collectors.joining("\n"));
		}

		@Override
		public String toString() {
			return String.join(" ", Arrays.asList(Long.toString(this.number), Long.toString(this.token), this.nonce));
		}

	}

}
