package io.mutex.model;

import io.mutex.model.Explorer.Exploration;
import io.mutex.model.World.Faults;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The protocol in every state of a small world, and what goes wrong without each of its
 * rules.
 */
@DisplayName("I1 I2 I3 I4 I6 I7 every state of the protocol")
class LockModelTests {

	@ParameterizedTest(name = "{0}, doubts skipped: {1}")
	@CsvSource({ "FENCED, false, 0", "RECORDED_AFTER, true, 1", "RECORDED_IN_TRANSACTION, false, 1" })
	void keepsItsProperties(Work work, boolean skips, int crashes) {
		Exploration found = new LockModel(work, Variant.CORRECT, skips).explore(2, 1,
				new Faults(3, 0, 0, crashes, 0, false));
		assertThat(found.violation()).as(found.toString()).isNull();
		assertThat(found.states()).isGreaterThan(1000);
	}

	@ParameterizedTest(name = "{0}: {1} lost answers, {2} late requests, {3} losses of data, clock set back: {4}")
	@CsvSource({ "FENCED, 1, 0, 0, false", "RECORDED_AFTER, 1, 0, 0, false", "RECORDED_IN_TRANSACTION, 1, 0, 0, false",
			"FENCED, 0, 1, 0, false", "RECORDED_AFTER, 0, 1, 0, false", "RECORDED_IN_TRANSACTION, 0, 1, 0, false",
			"FENCED, 0, 0, 1, false", "FENCED, 0, 0, 1, true" })
	void keepsItsPropertiesUnderAFault(Work work, int lostAnswers, int copies, int losses, boolean clockBack) {
		Exploration found = new LockModel(work, Variant.CORRECT, false).explore(2, 1,
				new Faults(3, lostAnswers, copies, 0, losses, clockBack));
		assertThat(found.violation()).as(found.toString()).isNull();
		assertThat(found.states()).isGreaterThan(1000);
	}

	@ParameterizedTest(name = "{1}")
	@CsvSource({ "FENCED, CHECK_ON_WRITE_ONLY, 2, 1, 0, 0, 0, I3",
			"FENCED, EQUAL_TOKEN_WITHOUT_NONCE, 2, 1, 0, 0, 1, I2",
			"RECORDED_IN_TRANSACTION, RECORD_CHECKED_BEFORE_LOCK, 2, 1, 0, 0, 0, I6",
			"RECORDED_AFTER, ATTEMPT_BEFORE_NONCE, 2, 1, 1, 0, 0, silently",
			"FENCED, RELEASE_WITHOUT_COMPARING, 3, 1, 0, 0, 0, I4", "FENCED, DEADLINE_FROM_ANSWER, 2, 1, 0, 0, 0, I4",
			"RECORDED_AFTER, COMPLETION_AFTER_LOSS, 2, 1, 0, 0, 0, lost its lease",
			"RECORDED_AFTER, SKIP_REMOVES_DOUBT, 2, 2, 0, 1, 0, doubt",
			"RECORDED_IN_TRANSACTION, CHECK_THAT_READS, 2, 1, 0, 0, 0, I6",
			"FENCED, UNKNOWN_TAKEN_FOR_GRANT, 2, 1, 1, 0, 0, I7" })
	void findsWhatGoesWrongWithoutARule(Work work, Variant variant, int workers, int calls, int lostAnswers,
			int crashes, int losses, String property) {
		Exploration found = new LockModel(work, variant, variant == Variant.SKIP_REMOVES_DOUBT).explore(workers, calls,
				new Faults(3, lostAnswers, 0, crashes, losses, losses > 0));
		assertThat(found.violation()).as(found.toString()).isNotNull().contains(property);
		assertThat(found.trace()).as(found.toString()).isNotEmpty();
	}

}
