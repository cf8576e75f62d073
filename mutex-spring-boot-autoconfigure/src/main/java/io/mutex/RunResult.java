package io.mutex;

import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * How a call of {@link MutexTemplate#singleRun} ended, where it did not throw.
 *
 * @param <T> the type of the value
 * @param outcome how it ended
 * @param value what the body returned; {@code null} if it did not run
 * @param record the stored run that is the reason of a skip, or {@code null}
 * @param holder who holds the key that is the reason of a skip, or {@code null}
 * @param reason one sentence for people
 */
public record RunResult<T extends @Nullable Object>(Outcome outcome, @Nullable T value, @Nullable RunRecord record,
		@Nullable Owner holder, String reason) {

	/**
	 * Whether the body ran in this call.
	 * @return {@code false} if the call was skipped
	 */
	public boolean isExecuted() {
		return this.outcome == Outcome.EXECUTED || this.outcome == Outcome.STORE_ERROR;
	}

}
