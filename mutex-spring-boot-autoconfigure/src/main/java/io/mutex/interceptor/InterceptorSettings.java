package io.mutex.interceptor;

import java.time.Duration;
import java.time.ZoneId;

import org.jspecify.annotations.Nullable;

/**
 * What holds for annotated methods that do not say otherwise.
 *
 * @param zone the zone of calendar periods
 * @param records whether single runs are recorded; if not, they only exclude each other
 * @param catchUp whether single runs that were missed are run at start-up
 * @param singleRunLease the lease of single runs
 * @param singleRunMaxHold the longest hold of single runs, or {@code null} for no limit
 * @param fencedWaitFor how long fenced methods wait for a held key
 * @param fencedLease the lease of fenced methods
 * @param fencedMaxHold the longest hold of fenced methods, or {@code null} for no limit
 * @param retention how long what is known of the units of single runs is kept
 */
public record InterceptorSettings(ZoneId zone, boolean records, boolean catchUp, Duration singleRunLease,
		@Nullable Duration singleRunMaxHold, Duration fencedWaitFor, Duration fencedLease,
		@Nullable Duration fencedMaxHold, RunRetention retention) {

	/**
	 * The settings of an application that configures nothing.
	 * @return the defaults
	 */
	public static InterceptorSettings defaults() {
		return new InterceptorSettings(ZoneId.systemDefault(), true, false, Duration.ofMinutes(2), null,
				Duration.ofSeconds(5), Duration.ofSeconds(30), null, RunRetention.DEFAULT);
	}

}
