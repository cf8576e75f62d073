package io.mutex.actuate.endpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

import io.mutex.actuate.endpoint.JobDescriptor.SuccessDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The sentences of {@link Summary} and the words of {@link PlainText}.
 */
class SummaryTests {

	private static final ZoneId OSLO = ZoneId.of("Europe/Oslo");

	private static final Instant NOW = Instant.parse("2026-11-30T10:30:00Z");

	private static final Instant DUE = Instant.parse("2026-12-01T02:00:00Z");

	private static final SuccessDescriptor SUCCESS = new SuccessDescriptor("2026-11-30",
			Instant.parse("2026-11-30T02:00:41Z"), "pod-1", "PT41S");

	private static String summary(@Nullable SuccessDescriptor success, UnitDescriptor current,
			@Nullable Instant missed) {
		return new Summary(NOW, OSLO, success, Duration.ofSeconds(41), current, missed, DUE, true).toString();
	}

	private static UnitDescriptor unit(UnitState state, @Nullable Instant nextAttempt) {
		return new UnitDescriptor("2026-11-30", state, "pod-2", Instant.parse("2026-11-30T02:00:00Z"), 2,
				"java.io.IOException: no paper", nextAttempt);
	}

	@Test
	void saysWhatRan() {
		assertThat(summary(SUCCESS, unit(UnitState.DONE, null), null))
			.isEqualTo("Fine: ran once, 41 s on pod-1; next due tomorrow 03:00 Europe/Oslo");
		assertThat(summary(SUCCESS, unit(UnitState.OPEN, null), null))
			.isEqualTo("Fine: last ran today 03:00:41, 41 s on pod-1; next due tomorrow 03:00 Europe/Oslo");
		assertThat(summary(null, unit(UnitState.OPEN, null), null))
			.isEqualTo("Never ran; next due tomorrow 03:00 Europe/Oslo");
	}

	@Test
	void saysWhatIsWrong() {
		assertThat(summary(SUCCESS, unit(UnitState.FAILED, NOW.plusSeconds(60)), null))
			.isEqualTo("Failed: attempt 2 on pod-2, today 03:00: java.io.IOException: no paper; "
					+ "last success today 03:00:41, 41 s on pod-1; may be tried again today 11:31; "
					+ "next due tomorrow 03:00 Europe/Oslo");
		assertThat(summary(null, unit(UnitState.IN_DOUBT, null), null))
			.isEqualTo("In doubt: attempt 2 on pod-2 ended without an outcome, noticed today 03:00; no success yet; "
					+ "next due tomorrow 03:00 Europe/Oslo");
		assertThat(summary(SUCCESS, unit(UnitState.OPEN, null), Instant.parse("2026-11-28T02:00:00Z")))
			.isEqualTo("Overdue: due 2026-11-28 03:00 Europe/Oslo, 2 d 8 h ago; last success today 03:00:41, "
					+ "41 s on pod-1; next due tomorrow 03:00 Europe/Oslo");
		assertThat(summary(null, unit(UnitState.OPEN, null), Instant.parse("2026-11-29T02:00:00Z")))
			.isEqualTo("Overdue: due yesterday 03:00 Europe/Oslo, 1 d 8 h ago; never ran; "
					+ "next due tomorrow 03:00 Europe/Oslo");
	}

	@Test
	void saysWhoHoldsTheKey() {
		assertThat(summary(SUCCESS, unit(UnitState.RUNNING, null), null))
			.isEqualTo("Running: on pod-2 since today 03:00; last success today 03:00:41, 41 s on pod-1");
		assertThat(summary(null, unit(UnitState.BLOCKED, null), Instant.parse("2026-11-30T02:00:00Z")))
			.isEqualTo("Blocked: the run of another unit on pod-2 holds the key since today 03:00; "
					+ "overdue since today 03:00; no success yet");
	}

	@Test
	void saysDurationsInTwoParts() {
		assertThat(PlainText.duration(Duration.ofMillis(120))).isEqualTo("120 ms");
		assertThat(PlainText.duration(Duration.ofSeconds(125))).isEqualTo("2 min 5 s");
		assertThat(PlainText.duration(Duration.ofMinutes(60))).isEqualTo("1 h");
		assertThat(PlainText.duration(Duration.ofMinutes(190))).isEqualTo("3 h 10 min");
		assertThat(PlainText.duration(Duration.ofHours(49))).isEqualTo("2 d 1 h");
	}

}
