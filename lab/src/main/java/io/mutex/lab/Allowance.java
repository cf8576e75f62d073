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

	// how far the clock of a store jumps
	private static final Duration AHEAD = Duration.ofMinutes(2);

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
	 * beginning to the end; a late grant may wait for any other fault that strikes before
	 * it was to come; everything else is broken at its end, and what it contradicts may
	 * be older than the fault.
	 * @param violation the violation
	 * @return whether the fault was at work and lifts the invariant
	 */
	boolean allows(Violation violation) {
		if (violation.invariant().equals("I8")) {
			return !isUndisturbed(violation.from(), violation.to());
		}
		if (violation.invariant().equals("I1") && isForgottenTime(violation)) {
			return true;
		}
		long begin = violation.invariant().equals("I4") ? violation.from() : violation.to();
		return this.windows.stream()
			.anyMatch((window) -> window.lifted().contains(violation.invariant()) && window.contains(begin)
					&& window.contains(violation.to()));
	}

	// R4: the store has lost its data after its clock had been ahead, which a guard makes
	// up
	// for, and nothing else
	private boolean isForgottenTime(Violation violation) {
		return !Routine.KEYS.contains(violation.key()) && this.windows.stream()
			.filter((ahead) -> ahead.lifted().contains("I4") && !ahead.lifted().contains("I6"))
			.filter((ahead) -> ahead.from() <= violation.to() && violation.to() <= ahead.to() + AHEAD.toNanos())
			.anyMatch((ahead) -> this.windows.stream()
				.anyMatch((loss) -> loss.lifted().contains("I6") && loss.meets(ahead.from(), violation.to())));
	}

	/**
	 * Whether no fault was at work while the next grant was to come.
	 * @param from when the holder died
	 * @param to when the next grant came
	 * @return {@code false} if a fault explains why it came late
	 */
	boolean isUndisturbed(long from, long to) {
		long promised = Math.min(to, from + this.takeover.toNanos());
		return this.windows.stream().noneMatch((window) -> window.meets(from, promised));
	}

}
