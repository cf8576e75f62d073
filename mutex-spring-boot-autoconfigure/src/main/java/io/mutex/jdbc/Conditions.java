package io.mutex.jdbc;

import io.mutex.AcquireRequest;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of a request as numbers that SQL can compare.
 *
 * @param unit the unit, or {@code null}
 * @param within how long ago a success may have begun to count, in microseconds
 * @param earliest the store's time from which the unit may run
 * @param attempt the demanded attempt, or 0
 * @param keptUntil until when what is known of the unit is kept in any case
 * @param keptFor how long after the grant, in microseconds
 * @param waiter who waits, or an empty text
 */
record Conditions(@Nullable String unit, long within, long earliest, int attempt, long keptUntil, long keptFor,
		String waiter) {

	// longer than any time since 1970, and far from an overflow
	private static final long FOREVER = 1L << 61;

	static Conditions of(AcquireRequest request) {
		RunUnit unit = request.unit();
		String waiter = (request.reservation() != null) ? request.reservation().waiter() : "";
		if (unit == null) {
			return new Conditions(null, FOREVER, 0, 0, 0, 0, waiter);
		}
		long within = (unit.within() != null) ? Micros.of(unit.within()) : FOREVER;
		long earliest = (unit.begins() != null) ? Micros.of(unit.begins()) - Micros.of(unit.tolerance()) : 0;
		if (unit.keptFor() == null) {
			return new Conditions(unit.id(), within, earliest, request.attempt(), LockRow.NEVER, 0, waiter);
		}
		long keptUntil = (unit.keptUntil() != null) ? Micros.of(unit.keptUntil()) : 0;
		return new Conditions(unit.id(), within, earliest, request.attempt(), keptUntil, Micros.of(unit.keptFor()),
				waiter);
	}

}
