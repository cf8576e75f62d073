package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;

import io.mutex.MutexListener.Run;
import io.mutex.run.Attempts;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what follows the end of a call.
 */
class RepetitionTests {

	private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

	private static final Duration DELAY = Duration.ofMinutes(1);

	private static final Duration LEASE = Duration.ofMinutes(2);

	private final Attempts attempts = Attempts.SCHEDULED.withLimit(3, DELAY, NOW.plus(Duration.ofHours(1)));

	private final Attempts missedOnly = Attempts.SCHEDULED.withLimit(2, null, NOW.plus(Duration.ofHours(1)));

	@ParameterizedTest
	@EnumSource(names = { "EXECUTED", "SKIPPED_DONE", "SKIPPED_IN_DOUBT" })
	void nothingFollowsWhatIsDoneOrInDoubt(Outcome outcome) {
		assertThat(after(ended(outcome, 1), this.attempts)).isNull();
		assertThat(after(ended(outcome, 1), this.attempts.repeated(1))).isNull();
	}

	@Test
	void failureIsFollowedAfterTheDelayWithinTheLimit() {
		assertNext(after(ended(Outcome.FAILED, 1), this.attempts), DELAY, 2);
		assertNext(after(ended(Outcome.FAILED, 2), this.attempts.repeated(2)), DELAY, 3);
		assertThat(after(ended(Outcome.FAILED, 3), this.attempts.repeated(3))).isNull();
		assertThat(after(ended(Outcome.FAILED, 1), this.missedOnly)).isNull();
	}

	@Test
	void conditionThatFailedIsAskedAgainInTheSameAttempt() {
		assertNext(after(ended(Outcome.FAILED, 0), this.attempts), DELAY, 1);
		assertNext(after(ended(Outcome.FAILED, 0), this.attempts.repeated(2)), DELAY, 2);
	}

	@Test
	void failureElsewhereIsFollowedWhenTheStoreSaysSo() {
		Run failed = skipped(Outcome.SKIPPED_FAILED, null, Duration.ofSeconds(9), 1);
		assertNext(after(failed, this.attempts), Duration.ofSeconds(9), 2);
		assertThat(after(skipped(Outcome.SKIPPED_FAILED, null, Duration.ZERO, 3), this.attempts)).isNull();
		assertThat(after(failed, this.missedOnly)).isNull();
	}

	@Test
	void nothingFollowsOnceTheNextFiringIsDue() {
		Attempts soon = Attempts.SCHEDULED.withLimit(3, DELAY, NOW.plusSeconds(60));
		assertThat(after(ended(Outcome.FAILED, 1), soon)).isNull();
		assertThat(after(skipped(Outcome.SKIPPED_FAILED, null, DELAY, 1), soon)).isNull();
		assertThat(after(skipped(Outcome.SKIPPED_HELD, "unit", LEASE, 0),
				soon.withLimit(3, Duration.ofSeconds(70), NOW.plusSeconds(60))))
			.isNull();
		assertThat(after(ended(Outcome.FAILED, 1), Attempts.SCHEDULED.withLimit(3, DELAY, null))).isNotNull();
	}

	@Test
	void heldUnitIsLookedAtMoreAndMoreRarelyAndAtTheEndOfTheLease() {
		Run held = skipped(Outcome.SKIPPED_HELD, "unit", LEASE, 0);
		assertNext(after(held, this.attempts), DELAY, 1);
		assertNext(after(held, this.attempts.repeated(2)), DELAY, 2);
		assertNext(Repetition.after(held, this.attempts.repeated(2), 1, LEASE, NOW), LEASE, 2);
		Attempts hasty = Attempts.SCHEDULED.withLimit(3, Duration.ofMillis(50), null);
		for (int looks = 0; looks < 7; looks++) {
			assertNext(Repetition.after(held, hasty, looks, LEASE, NOW), Duration.ofSeconds(1L << looks), 1);
		}
		assertNext(Repetition.after(held, hasty, 99, LEASE, NOW), LEASE, 1);
		Run brief = skipped(Outcome.SKIPPED_HELD, "unit", Duration.ofMillis(100), 0);
		assertNext(after(brief, this.attempts), Duration.ofMillis(100), 1);
		assertThat(after(held, this.missedOnly)).isNull();
		assertNext(after(held, this.missedOnly.repeated(1)), LEASE, 1);
	}

	@Test
	void leaseWithoutAnEndIsLookedAtAfterTheDelay() {
		for (Duration unknown : new Duration[] { null, Duration.ZERO }) {
			Run held = skipped(Outcome.SKIPPED_HELD, "unit", unknown, 0);
			assertNext(after(held, this.attempts), DELAY, 1);
			assertNext(after(held, this.attempts.repeated(1)), DELAY, 1);
			assertNext(after(held, this.missedOnly.repeated(1)), LEASE, 1);
			Attempts hasty = Attempts.SCHEDULED.withLimit(3, Duration.ZERO, null);
			assertNext(after(held, hasty), Duration.ofSeconds(1), 1);
		}
	}

	@Test
	void missedUnitIsLookedAtMoreAndMoreOften() {
		Run missed = skipped(Outcome.SKIPPED_HELD, "other", LEASE, 0);
		assertNext(after(missed, this.attempts), DELAY, 1);
		assertNext(after(missed, this.missedOnly), LEASE, 1);
		assertNext(after(missed, this.attempts.repeated(1).withLimit(3, DELAY, NOW.plusSeconds(40))),
				Duration.ofSeconds(10), 1);
		assertNext(after(missed, this.attempts.repeated(1).withLimit(3, DELAY, NOW.plusSeconds(2))),
				Duration.ofSeconds(1), 1);
		assertThat(after(missed, this.attempts.withLimit(3, DELAY, NOW.plusSeconds(1)))).isNull();
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE_LOST", "STORE_ERROR" })
	void whatEndedWithoutAnAnswerIsLookedAt(Outcome outcome) {
		assertNext(after(ended(outcome, 2), this.attempts.repeated(2)), DELAY, 2);
		assertThat(after(ended(outcome, 1), this.missedOnly)).isNull();
		assertNext(after(ended(outcome, 1), this.missedOnly.repeated(1)), LEASE, 1);
	}

	@Test
	void callByHandIsFollowedAsWell() {
		Attempts byHand = Attempts.BY_HAND.withLimit(3, DELAY, null);
		assertNext(after(ended(Outcome.FAILED, 2), byHand), DELAY, 3);
		assertNext(after(ended(Outcome.STORE_ERROR, 0), byHand), DELAY, 1);
		assertThat(after(ended(Outcome.FAILED, 7), byHand)).isNull();
	}

	private static @Nullable Repetition after(Run run, Attempts attempts) {
		return Repetition.after(run, attempts, 0, LEASE, NOW);
	}

	private static void assertNext(@Nullable Repetition next, Duration in, int attempt) {
		assertThat(next).isNotNull();
		assertThat(next.attempt()).isEqualTo(attempt);
		assertThat(next.in()).isBetween(in, in.plusMillis(10));
	}

	private static Run ended(Outcome outcome, int attempt) {
		return new Run("key", "key", "unit", outcome, "", Duration.ZERO, null, Origin.SCHEDULER, attempt, null, null,
				null, null);
	}

	private static Run skipped(Outcome outcome, @Nullable String heldUnit, @Nullable Duration remaining, int attempt) {
		return new Run("key", "key", "unit", outcome, "", Duration.ZERO, null, Origin.SCHEDULER, attempt, null, null,
				heldUnit, remaining);
	}

}
