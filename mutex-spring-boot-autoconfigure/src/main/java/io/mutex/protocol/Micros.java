package io.mutex.protocol;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Conversions of the stores' time, microseconds since 1970.
 */
public final class Micros {

	private Micros() {
	}

	/**
	 * The instant of a number of microseconds.
	 * @param micros microseconds since 1970
	 * @return the instant
	 */
	public static Instant toInstant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/**
	 * The duration of a number of microseconds.
	 * @param micros the number
	 * @return the duration
	 */
	public static Duration toDuration(long micros) {
		return Duration.of(micros, ChronoUnit.MICROS);
	}

	/**
	 * The microseconds of an instant.
	 * @param instant the instant
	 * @return microseconds since 1970, rounded down
	 */
	public static long of(Instant instant) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
	}

	/**
	 * The microseconds of a duration.
	 * @param duration the duration
	 * @return its length in microseconds, rounded down
	 */
	public static long of(Duration duration) {
		return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1000L);
	}

}
