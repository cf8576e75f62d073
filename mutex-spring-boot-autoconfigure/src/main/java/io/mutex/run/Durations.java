package io.mutex.run;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The one way in which durations are written: as in Spring Boot's configuration, only
 * that a number needs its unit.
 */
public final class Durations {

	private static final Pattern SIMPLE = Pattern.compile("([+-]?\\d{1,18})([a-zA-Z]{0,2})");

	private static final Map<String, ChronoUnit> UNITS = Map.of("ns", ChronoUnit.NANOS, "us", ChronoUnit.MICROS, "ms",
			ChronoUnit.MILLIS, "s", ChronoUnit.SECONDS, "m", ChronoUnit.MINUTES, "h", ChronoUnit.HOURS, "d",
			ChronoUnit.DAYS);

	private Durations() {
	}

	/**
	 * Reads a duration: a number with one of the units {@code ns}, {@code us},
	 * {@code ms}, {@code s}, {@code m}, {@code h} and {@code d} in upper or lower case,
	 * so that {@code 14M} are 14 minutes; ISO 8601, such as {@code PT1H30M}; or
	 * {@code 0}.
	 * @param text the text
	 * @return the duration, possibly negative
	 * @throws IllegalArgumentException if the text is anything else
	 */
	public static Duration parse(String text) {
		try {
			if (text.matches("[+-]?[pP].*")) {
				return Duration.parse(text);
			}
			Matcher simple = SIMPLE.matcher(text);
			if (simple.matches()) {
				long amount = Long.parseLong(simple.group(1));
				ChronoUnit unit = UNITS.get(simple.group(2).toLowerCase(Locale.ROOT));
				if (unit != null) {
					return Duration.of(amount, unit);
				}
				if (amount == 0 && simple.group(2).isEmpty()) {
					return Duration.ZERO;
				}
			}
		}
		catch (DateTimeException | ArithmeticException ex) {
			throw new IllegalArgumentException(fault(text), ex);
		}
		throw new IllegalArgumentException(fault(text));
	}

	private static String fault(String text) {
		return "'" + text + "' is not a duration: write a number with its unit (ns, us, ms, s, m, h or d) "
				+ "and without spaces, such as 30s or 90m, or ISO 8601, such as PT1H30M";
	}

}
