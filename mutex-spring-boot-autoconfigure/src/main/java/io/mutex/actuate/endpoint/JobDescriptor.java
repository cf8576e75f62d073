package io.mutex.actuate.endpoint;

import java.time.Instant;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.status.RunLog;
import io.mutex.status.Success;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a single run: the plain sentence and the last success first.
 *
 * @param name the declared text of the key; the key itself of a key that nobody declares
 * @param summary one sentence for people
 * @param lastSuccess the last success, or {@code null}
 * @param current the state of the current unit, or {@code null} for a key template
 * @param nextDue when the next unit is due, or {@code null}
 * @param nextTick when the schedule fires next, or {@code null}
 * @param overdueBy the time since an overdue unit was due, as an ISO-8601 duration, or
 * {@code null} if nothing is overdue
 * @param bean the bean, or {@code null} if nobody declares the key
 * @param method the method, or {@code null} if nobody declares the key
 * @param policy what "once" means, or {@code null} if nobody declares the key
 * @param runs the last runs, as the store remembers them, the latest first
 * @param here the last calls on this instance with their reasons, the latest first
 * @param keys of a key template, the keys that this instance has seen lately
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JobDescriptor(String name, String summary, @Nullable SuccessDescriptor lastSuccess,
		@Nullable UnitDescriptor current, @Nullable Instant nextDue, @Nullable Instant nextTick,
		@Nullable String overdueBy, @Nullable String bean, @Nullable String method, @Nullable String policy,
		List<RunDescriptor> runs, List<CallDescriptor> here, @Nullable List<String> keys) {

	/**
	 * The last success.
	 *
	 * @param unit the unit, or {@code null} if successes are not recorded
	 * @param at when it ended
	 * @param instance the instance that ran it
	 * @param took how long it took, as an ISO-8601 duration
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record SuccessDescriptor(@Nullable String unit, Instant at, String instance, String took) {

		static SuccessDescriptor of(Success success, String self) {
			Owner owner = success.owner();
			return new SuccessDescriptor(success.unit(), success.ended(), (owner != null) ? owner.instance() : self,
					success.took().toString());
		}

	}

	/**
	 * The state of a unit.
	 *
	 * @param unit the unit, or {@code null} if there is none
	 * @param state the state
	 * @param instance who runs it, or ran its last attempt, or {@code null}
	 * @param since since when it runs, or when its last attempt ended, or {@code null}
	 * @param attempt the number of its last attempt, or {@code null} if none has ended
	 * @param error the error of its last attempt, or {@code null}
	 * @param nextAttempt when the next attempt may begin, or {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record UnitDescriptor(@Nullable String unit, UnitState state, @Nullable String instance,
			@Nullable Instant since, @Nullable Integer attempt, @Nullable String error, @Nullable Instant nextAttempt) {

	}

	/**
	 * A run that the store remembers: of a unit, its last attempt.
	 *
	 * @param unit the unit
	 * @param outcome how it ended
	 * @param attempt how many attempts had begun
	 * @param began when it began
	 * @param took how long it took, as an ISO-8601 duration
	 * @param owner who ran it
	 * @param token its fencing token
	 * @param errorClass the class of its error, or {@code null}
	 * @param error class and message of its error, or {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record RunDescriptor(String unit, RunRecord.Status outcome, int attempt, Instant began, String took,
			Owner owner, long token, @Nullable String errorClass, @Nullable String error) {

		static RunDescriptor of(RunRecord run) {
			return new RunDescriptor(run.unit(), run.status(), run.attempt(), run.began(), run.duration().toString(),
					run.owner(), run.token(), errorClass(run.error()), run.error());
		}

		// stored as class, colon, message
		private static @Nullable String errorClass(@Nullable String error) {
			int colon = (error != null) ? error.indexOf(": ") : -1;
			return (error != null && colon > 0) ? error.substring(0, colon) : error;
		}

	}

	/**
	 * A call on this instance.
	 *
	 * @param at when it ended
	 * @param key the evaluated key
	 * @param unit the unit, or {@code null}
	 * @param outcome how it ended
	 * @param attempt the number of the attempt, or of the last one in the store if that
	 * is the reason; {@code null} if it is not known
	 * @param calledBy who called
	 * @param reason why, for people
	 * @param took how long the method ran, as an ISO-8601 duration
	 * @param errorClass the class of what went wrong, or {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record CallDescriptor(Instant at, String key, @Nullable String unit, Outcome outcome,
			@Nullable Integer attempt, Origin calledBy, String reason, String took, @Nullable String errorClass) {

		static CallDescriptor of(String key, RunLog.Entry entry) {
			return new CallDescriptor(entry.time(), key, entry.unit(), entry.outcome(),
					(entry.attempt() > 0) ? entry.attempt() : null, entry.origin(), entry.reason(),
					entry.took().toString(), entry.error());
		}

	}

	/**
	 * The states of a unit.
	 */
	public enum UnitState {

		/** It has succeeded. */
		DONE,

		/** Nobody has run it yet, or it has no records. */
		OPEN,

		/** It is being run. */
		RUNNING,

		/** The run of another unit holds the key: this one is being missed. */
		BLOCKED,

		/** Its last attempt failed. */
		FAILED,

		/** Its last run began and nobody knows how it ended. */
		IN_DOUBT

	}

}
