package io.mutex.lab;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What the specification lets a run do, given its faults. An invariant is lifted while a
 * fault that lifts it is at work, and nowhere else.
 *
 * @param takeover how soon after the death of a holder the next grant comes, if no other
 * fault is at work
 * @param windows when the faults were at work
 */
record Allowance(Duration takeover, List<Window> windows) {

	/**
	 * An allowance that does not depend on the time.
	 * @param takeover how soon after the death of a holder the next grant comes
	 * @param except the invariants that are lifted
	 * @return the allowance
	 */
	static Allowance of(Duration takeover, String... except) {
		return new Allowance(takeover, (except.length == 0) ? List.of()
				: List.of(new Window(Long.MIN_VALUE, Long.MAX_VALUE, Set.of(except), "")));
	}

	/**
	 * Whether a fault explains a violation. Two who hold a key at once do so from the
	 * beginning to the end; a late grant may wait for any other fault; everything else is
	 * broken at its end, and what it contradicts may be older than the fault.
	 * @param violation the violation
	 * @return whether the fault was at work and lifts the invariant
	 */
	boolean allows(Violation violation) {
		if (violation.invariant().equals("I8")) {
			return !isUndisturbed(violation.from(), violation.to());
		}
		long begin = violation.invariant().equals("I4") ? violation.from() : violation.to();
		return this.windows.stream()
			.anyMatch((window) -> window.lifted().contains(violation.invariant()) && window.contains(begin)
					&& window.contains(violation.to()));
	}

	/**
	 * Whether no fault was at work.
	 * @param from the beginning of a time
	 * @param to its end
	 * @return {@code false} if one explains what happened meanwhile
	 */
	boolean isUndisturbed(long from, long to) {
		return this.windows.stream().noneMatch((window) -> window.meets(from, to));
	}

}
