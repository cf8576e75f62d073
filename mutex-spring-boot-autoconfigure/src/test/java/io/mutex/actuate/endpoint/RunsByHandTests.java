package io.mutex.actuate.endpoint;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;

import io.mutex.MutexListener.Run;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import io.mutex.run.Period;
import io.mutex.run.Timetable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.SecurityContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunsByHand}.
 */
class RunsByHandTests {

	private RunsByHand byHand = new RunsByHand((run) -> null, Duration.ZERO);

	@Test
	void answerIsThatOfTheJobAndNotOfOneThatItHasCalled() {
		this.byHand = new RunsByHand((run) -> {
			this.byHand.run(ended("inner", Outcome.SKIPPED_DONE));
			this.byHand.run(ended("outer", Outcome.EXECUTED));
			return null;
		}, Duration.ofSeconds(30));
		try (RunsByHand closed = this.byHand) {
			Timetable timetable = new Timetable(Period.NONE, ZoneOffset.UTC, null, null, false);
			DeclaredRun run = new DeclaredRun("jobs", "Jobs.outer()", "outer", true, "", timetable, false);
			RunsByHand.Answer answer = closed.run(List.of(run), "outer", SecurityContext.NONE).getBody();
			assertThat(answer).extracting(RunsByHand.Answer::outcome, RunsByHand.Answer::unit)
				.containsExactly(Outcome.EXECUTED, "unit of outer");
		}
	}

	private static Run ended(String key, Outcome outcome) {
		return new Run(key, key, "unit of " + key, outcome, "", Duration.ZERO, null, Origin.BY_HAND, 1, null, null,
				null, null);
	}

}
