package io.mutex.proof;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.mutex.proof.Ledger.Line;

/**
 * Checks what was accepted for one key.
 */
final class History {

	private final List<Line> lines;

	History(List<Line> lines) {
		this.lines = List.copyOf(lines);
	}

	/**
	 * The writes that came after one of a later grant.
	 * @return the number of writes that the storage should have refused
	 */
	int stale() {
		long highest = 0;
		int stale = 0;
		for (Line line : this.lines) {
			if (line.token() < highest) {
				stale++;
			}
			highest = Math.max(highest, line.token());
		}
		return stale;
	}

	/**
	 * The writes that another one has overwritten without having read them.
	 * @return the number of lost updates
	 */
	int lost() {
		Set<Long> numbers = new HashSet<>();
		this.lines.forEach((line) -> numbers.add(line.number()));
		return this.lines.size() - numbers.size();
	}

	/**
	 * The tokens that two grants have written with.
	 * @return how many there are
	 */
	long shared() {
		Map<Long, Set<String>> nonces = new HashMap<>();
		this.lines
			.forEach((line) -> nonces.computeIfAbsent(line.token(), (token) -> new HashSet<>()).add(line.nonce()));
		return nonces.values().stream().filter((each) -> each.size() > 1).count();
	}

	/**
	 * The number that was written last.
	 * @return the number, 0 if nothing was written
	 */
	long last() {
		return this.lines.isEmpty() ? 0 : this.lines.get(this.lines.size() - 1).number();
	}

}
