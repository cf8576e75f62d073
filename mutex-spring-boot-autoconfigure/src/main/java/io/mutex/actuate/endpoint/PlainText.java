package io.mutex.actuate.endpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * Times and durations as people say them.
 */
final class PlainText {

	private static final DateTimeFormatter MINUTES = DateTimeFormatter.ofPattern("HH:mm", Locale.ROOT);

	private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

	private PlainText() {
	}

	/**
	 * A moment, for example {@code today 03:00}.
	 * @param moment the moment
	 * @param now the time
	 * @param zone the zone of both
	 * @return the text, without the zone
	 */
	static String moment(Instant moment, Instant now, ZoneId zone) {
		ZonedDateTime local = moment.atZone(zone);
		LocalTime time = local.toLocalTime().truncatedTo(ChronoUnit.SECONDS);
		return day(local.toLocalDate(), LocalDate.ofInstant(now, zone)) + " "
				+ ((time.getSecond() != 0) ? SECONDS : MINUTES).format(time);
	}

	private static String day(LocalDate day, LocalDate today) {
		return switch ((int) Math.max(-2, Math.min(2, ChronoUnit.DAYS.between(today, day)))) {
			case -1 -> "yesterday";
			case 0 -> "today";
			case 1 -> "tomorrow";
			default -> day.toString();
		};
	}

	/**
	 * A duration, for example {@code 2 min 5 s}.
	 * @param duration the duration
	 * @return its two greatest parts
	 */
	static String duration(Duration duration) {
		if (duration.toSeconds() < 1) {
			return duration.toMillis() + " ms";
		}
		if (duration.toMinutes() < 1) {
			return duration.toSeconds() + " s";
		}
		if (duration.toHours() < 1) {
			return parts(duration.toMinutes(), "min", duration.toSecondsPart(), "s");
		}
		if (duration.toDays() < 1) {
			return parts(duration.toHours(), "h", duration.toMinutesPart(), "min");
		}
		return parts(duration.toDays(), "d", duration.toHoursPart(), "h");
	}

	private static String parts(long great, String greatUnit, int small, String smallUnit) {
		return great + " " + greatUnit + ((small != 0) ? " " + small + " " + smallUnit : "");
	}

}
