package io.mutex.run;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.time.zone.ZoneOffsetTransition;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * What "once" means: which unit a moment belongs to. Calendar units follow ISO 8601 and
 * do not depend on the locale.
 *
 * @param kind the kind of period
 * @param length the length of a {@link Kind#ROLLING} period, else {@code null}
 */
public record Period(Kind kind, @Nullable Duration length) {

	/** No record: only no two at once. */
	public static final Period NONE = new Period(Kind.NONE, null);

	/** The firing of a schedule. */
	public static final Period TICK = new Period(Kind.TICK, null);

	private static final Duration MAX_SLACK = Duration.ofSeconds(1);

	private static final int SLACK_DIVISOR = 20;

	public Period {
		if ((kind == Kind.ROLLING) != (length != null)) {
			throw new IllegalArgumentException("a rolling period, and no other, has a length");
		}
	}

	/**
	 * A period in which no run starts within some time of the start of the last success.
	 * @param length that time, at least a millisecond
	 * @return the period
	 * @throws IllegalArgumentException if it is shorter
	 */
	public static Period rolling(Duration length) {
		if (length.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IllegalArgumentException("a period lasts at least 1ms, but was " + length);
		}
		return new Period(Kind.ROLLING, length);
	}

	/**
	 * Reads a period.
	 * @param text the name of a kind in lower case, or a duration as
	 * {@link Durations#parse(String)} reads it
	 * @return the period
	 * @throws IllegalArgumentException if the text is neither
	 */
	public static Period parse(String text) {
		for (Kind kind : Kind.values()) {
			if (kind != Kind.ROLLING && kind.toString().equals(text)) {
				return new Period(kind, null);
			}
		}
		try {
			return rolling(Durations.parse(text));
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("'" + text + "' is not a period: write tick, hour, day, week, month, "
					+ "year, forever, none, or a duration longer than 0, such as 10m", ex);
		}
	}

	/**
	 * Whether a success is recorded.
	 * @return {@code false} only for {@link #NONE}
	 */
	public boolean hasUnits() {
		return this.kind != Kind.NONE;
	}

	/**
	 * The unit that a moment belongs to.
	 * @param moment the moment; for {@link #TICK} the tick itself
	 * @param zone the zone of calendar units
	 * @param tolerance how far the beginning of the unit may lie ahead of the store's
	 * time
	 * @return the unit, or {@code null} for {@link #NONE}
	 */
	public @Nullable RunUnit unitAt(Instant moment, ZoneId zone, Duration tolerance) {
		LocalDate date = LocalDate.ofInstant(moment, zone);
		return switch (this.kind) {
			case NONE -> null;
			case FOREVER -> RunUnit.of(this.kind.toString());
			case ROLLING -> RunUnit.rolling(lessSlack());
			case TICK -> RunUnit.beginning(moment.toString(), moment, tolerance);
			case HOUR -> hour(moment, zone, tolerance);
			case DAY -> RunUnit.beginning(date.toString(), startOf(date, zone), tolerance);
			case WEEK -> RunUnit.beginning(week(date),
					startOf(date.minusDays(date.getDayOfWeek().getValue() - 1L), zone), tolerance);
			case MONTH ->
				RunUnit.beginning(YearMonth.from(date).toString(), startOf(date.withDayOfMonth(1), zone), tolerance);
			case YEAR ->
				RunUnit.beginning(Integer.toString(date.getYear()), startOf(date.withDayOfYear(1), zone), tolerance);
		};
	}

	/**
	 * When the calendar unit of a moment ends.
	 * @param moment the moment
	 * @param zone the zone of calendar units
	 * @return the first moment of the next unit, or {@code null} if this period is no
	 * calendar unit
	 */
	public @Nullable Instant endOf(Instant moment, ZoneId zone) {
		LocalDate date = LocalDate.ofInstant(moment, zone);
		return switch (this.kind) {
			case NONE, TICK, FOREVER, ROLLING -> null;
			case HOUR -> endOfHour(moment, zone);
			case DAY -> startOf(date.plusDays(1), zone);
			case WEEK -> startOf(date.plusDays(8L - date.getDayOfWeek().getValue()), zone);
			case MONTH -> startOf(date.withDayOfMonth(1).plusMonths(1), zone);
			case YEAR -> startOf(date.withDayOfYear(1).plusYears(1), zone);
		};
	}

	@Override
	public String toString() {
		return (this.length != null) ? this.length.toString() : this.kind.toString();
	}

	private Duration lessSlack() {
		Duration whole = (this.length != null) ? this.length : Duration.ZERO;
		Duration slack = whole.dividedBy(SLACK_DIVISOR);
		return whole.minus((slack.compareTo(MAX_SLACK) < 0) ? slack : MAX_SLACK);
	}

	/** The first moment of a day, also where the clocks skip or repeat midnight. */
	private static Instant startOf(LocalDate date, ZoneId zone) {
		return date.atStartOfDay(zone).toInstant();
	}

	private static String week(LocalDate date) {
		int week = date.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR);
		return date.get(IsoFields.WEEK_BASED_YEAR) + ((week < 10) ? "-W0" : "-W") + week;
	}

	/**
	 * The hour on the clocks of the zone. The offset tells a repeated hour from the
	 * first; where the clocks change within an hour, each part is a unit of its own.
	 */
	private static RunUnit hour(Instant moment, ZoneId zone, Duration tolerance) {
		ZoneOffset offset = zone.getRules().getOffset(moment);
		LocalDateTime hour = LocalDateTime.ofInstant(moment, offset).truncatedTo(ChronoUnit.HOURS);
		Instant begins = hour.toInstant(offset);
		ZoneOffsetTransition change = zone.getRules().previousTransition(moment.plusNanos(1));
		if (change != null && change.getInstant().isAfter(begins)) {
			begins = change.getInstant();
		}
		String id = hour.toString();
		return RunUnit.beginning(id.substring(0, id.indexOf(':')) + offset.getId(), begins, tolerance);
	}

	private static Instant endOfHour(Instant moment, ZoneId zone) {
		ZoneOffset offset = zone.getRules().getOffset(moment);
		Instant end = LocalDateTime.ofInstant(moment, offset)
			.truncatedTo(ChronoUnit.HOURS)
			.plusHours(1)
			.toInstant(offset);
		ZoneOffsetTransition change = zone.getRules().nextTransition(moment);
		return (change != null && change.getInstant().isBefore(end)) ? change.getInstant() : end;
	}

	/**
	 * The kinds of period.
	 */
	public enum Kind {

		/** No record. */
		NONE,

		/** The firing of a schedule. */
		TICK,

		/** An hour on the clocks of the zone. */
		HOUR,

		/** A day of the zone. */
		DAY,

		/** A week from Monday to Sunday. */
		WEEK,

		/** A calendar month. */
		MONTH,

		/** A calendar year. */
		YEAR,

		/** Once and for all. */
		FOREVER,

		/** A length of time from the start of the last success. */
		ROLLING;

		@Override
		public String toString() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

}
