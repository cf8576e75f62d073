package io.mutex.engine;

import java.time.Duration;

/**
 * What the monitors call a hazard.
 *
 * @param enabled whether they look at all
 * @param waitingLimit how long a thread may wait for a key
 * @param holdLimit how long a key may be held without a unit
 * @param nestingLimit how many keys a call may hold at once, at least 1
 */
public record MonitorSettings(boolean enabled, Duration waitingLimit, Duration holdLimit, int nestingLimit) {

	public MonitorSettings {
		if (nestingLimit < 1) {
			throw new IllegalArgumentException("a call may hold at least 1 key, but the limit was " + nestingLimit);
		}
	}

	/**
	 * The limits of an application that configures nothing.
	 * @return the defaults
	 */
	public static MonitorSettings defaults() {
		return new MonitorSettings(true, Duration.ofSeconds(30), Duration.ofMinutes(10), 5);
	}

}
