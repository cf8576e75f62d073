package io.mutex.run;

import java.time.Duration;
import java.time.Instant;

import io.mutex.run.RunRecord.Status;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AttemptsTests {

	private static final Instant NOON = Instant.parse("2026-11-30T12:00:00Z");

	private static final Duration DELAY = Duration.ofMinutes(1);

	private final Attempts scheduled = Attempts.SCHEDULED.withLimit(3, DELAY, NOON);

	@Test
	void callByHandIsWhicheverAttemptIsNext() {
		assertThat(Attempts.BY_HAND.expected()).isZero();
		assertThat(Attempts.BY_HAND.follow(last(Status.IN_DOUBT, 1, NOON), Duration.ZERO)).isFalse();
	}

	@Test
	void starterMakesNoAttemptUnlessAskedFor() {
		assertThat(Attempts.SCHEDULED.allows(1)).isFalse();
		assertThat(Attempts.SCHEDULED.retries(1)).isFalse();
		assertThat(Attempts.SCHEDULED.delayAfter(1, NOON)).isZero();
		Attempts afterDeath = Attempts.SCHEDULED.withLimit(2, null, NOON);
		assertThat(afterDeath.allows(2)).isTrue();
		assertThat(afterDeath.retries(1)).isFalse();
		assertThat(afterDeath.delayAfter(1, NOON.minusSeconds(9))).isZero();
	}

	@Test
	void deathIsFollowedWithinTheLimit() {
		assertThat(this.scheduled.follow(last(Status.IN_DOUBT, 2, NOON), Duration.ZERO)).isTrue();
		assertThat(this.scheduled.follow(last(Status.IN_DOUBT, 2, NOON), Duration.ofNanos(1))).isFalse();
		assertThat(this.scheduled.follow(last(Status.IN_DOUBT, 3, NOON), Duration.ZERO)).isFalse();
		assertThat(this.scheduled.repeated(2).follow(last(Status.IN_DOUBT, 2, NOON), Duration.ZERO)).isTrue();
		assertThat(Attempts.SCHEDULED.follow(last(Status.IN_DOUBT, 9, NOON), Duration.ZERO)).isTrue();
	}

	@Test
	void failureIsFollowedOnlyByALaterFiring() {
		assertThat(this.scheduled.follow(last(Status.FAILED, 1, NOON), Duration.ZERO)).isFalse();
		Attempts later = Attempts.scheduled(NOON).withLimit(3, DELAY, null);
		assertThat(later.follow(last(Status.FAILED, 1, NOON), Duration.ZERO)).isFalse();
		assertThat(later.follow(last(Status.FAILED, 9, NOON.minusNanos(1)), Duration.ZERO)).isTrue();
		assertThat(later.follow(last(Status.IN_DOUBT, 9, NOON.minusNanos(1)), Duration.ZERO)).isTrue();
		assertThat(later.follow(last(Status.FAILED, 1, NOON.minusNanos(1)), Duration.ofNanos(1))).isFalse();
		assertThat(later.repeated(2).follow(last(Status.FAILED, 1, NOON.minusNanos(1)), Duration.ZERO)).isFalse();
	}

	@Test
	void nextAttemptIsDueAfterTheDelayAndNotAfterTheNextFiring() {
		Instant early = NOON.minusSeconds(100);
		assertThat(this.scheduled.delayAfter(1, early)).isEqualTo(DELAY);
		assertThat(this.scheduled.delayAfter(2, early)).isEqualTo(DELAY);
		assertThat(this.scheduled.delayAfter(3, early)).isZero();
		assertThat(this.scheduled.delayAfter(1, NOON.minusSeconds(40))).isEqualTo(Duration.ofSeconds(40));
		assertThat(this.scheduled.delayAfter(1, NOON.plusSeconds(1))).isZero();
		assertThat(Attempts.BY_HAND.withLimit(2, DELAY, null).delayAfter(1, NOON)).isEqualTo(DELAY);
	}

	@Test
	void repeatedCallKeepsTheLimit() {
		assertThat(this.scheduled.repeated(2)).returns(2, Attempts::expected)
			.returns(3, Attempts::limit)
			.returns(Attempts.Origin.STARTER, Attempts::origin);
	}

	@Test
	void negativeNumbersAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.scheduled.repeated(-1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Attempts.SCHEDULED.withLimit(2, Duration.ofNanos(-1), null));
		assertThatIllegalArgumentException().isThrownBy(() -> Attempts.SCHEDULED.withLimit(-1, DELAY, null));
	}

	private static RunRecord last(Status status, int attempt, Instant began) {
		return new RunRecord("key", "unit", status, 1, new Owner("pod-1", "host", 1, "main"), attempt, began, began,
				null, null);
	}

}
