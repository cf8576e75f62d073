package io.mutex.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What the engine is told by configuration.
 *
 * @param instance the name of this application instance, for listings
 * @param runLease the length of a lease of a single run that names none
 * @param runMaxHold the longest hold of a single run that names none, or {@code null}
 * @param lockLease the length of every other lease that names none
 * @param lockMaxHold the longest other hold that names none, or {@code null}
 * @param interruptOnLoss whether the thread of a lost lease is interrupted
 * @param minPoll the shortest time between two questions of one waiter, unless the key
 * has gone to another in between
 * @param maxPoll the longest time between two questions of one waiter
 * @param retention how long after its latest use the store keeps a key of which no run is
 * remembered
 */
public record EngineSettings(String instance, Duration runLease, @Nullable Duration runMaxHold, Duration lockLease,
		@Nullable Duration lockMaxHold, boolean interruptOnLoss, Duration minPoll, Duration maxPoll,
		Duration retention) {

	/**
	 * A name for an application instance that is given none.
	 * @return the host name and the process id
	 */
	public static String defaultInstance() {
		return HostName.get() + "-" + ProcessHandle.current().pid();
	}

	/**
	 * The settings of an application that configures nothing.
	 * @param instance the name of this application instance
	 * @return the defaults
	 */
	public static EngineSettings defaults(String instance) {
		return new EngineSettings(instance, Duration.ofMinutes(2), null, Duration.ofSeconds(30), null, true,
				Duration.ofMillis(50), Duration.ofSeconds(1), Duration.ofDays(90));
	}

}
