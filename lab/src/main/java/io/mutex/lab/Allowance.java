package io.mutex.lab;

import java.time.Duration;
import java.util.Set;

/**
 * What the specification lets a run do, given its faults.
 *
 * @param except the invariants that the injected faults lift
 * @param takeover how soon after the death of a holder the next grant comes
 */
record Allowance(Set<String> except, Duration takeover) {

	static Allowance of(Duration takeover, String... except) {
		return new Allowance(Set.of(except), takeover);
	}

}
