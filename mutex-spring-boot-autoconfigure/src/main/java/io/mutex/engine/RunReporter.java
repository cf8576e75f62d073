package io.mutex.engine;

import java.time.Duration;

import io.mutex.Acquisition;
import io.mutex.LockRequest;
import io.mutex.MutexListener.Run;
import io.mutex.RunResult;
import io.mutex.run.Attempts.Origin;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says how the calls of single runs end: as a value, an event and a line in the log.
 */
final class RunReporter {

	private static final Logger skips = LoggerFactory.getLogger("io.mutex.skip");

	private final EngineListeners listeners;

	RunReporter(EngineListeners listeners) {
		this.listeners = listeners;
	}

	<T extends @Nullable Object> RunResult<T> held(LockRequest request, Acquisition.Held held) {
		String unit = unitOf(request);
		Owner holder = held.holder();
		boolean missed = unit != null && held.unit() != null && !unit.equals(held.unit());
		boolean again = request.attempts().origin() == Origin.STARTER;
		String reason = "skipped: held by " + ((holder != null) ? describe(holder) : "another run")
				+ (request.waitFor().isZero() ? "" : " after waiting for " + request.waitFor())
				+ (missed ? ", which runs unit " + held.unit() + ": unit " + unit + " is being missed" : "");
		if (again) {
			skips.debug("key={} unit={} {}", request.key(), unit, reason);
		}
		else if (missed) {
			skips.warn("key={} unit={} {}", request.key(), unit, reason);
		}
		else {
			skips.info("key={} unit={} {}", request.key(), unit, reason);
		}
		tell(request, new Run(request.key(), request.name(), unit, Outcome.SKIPPED_HELD, reason, Duration.ZERO, null,
				request.attempts().origin(), 0, null, holder, held.unit(), held.remaining()));
		return new RunResult<>(Outcome.SKIPPED_HELD, null, null, holder, reason);
	}

	<T extends @Nullable Object> RunResult<T> done(LockRequest request, RunRecord record) {
		String reason = "skipped: succeeded by " + describe(record.owner()) + " at " + record.ended() + ", token "
				+ record.token();
		if (request.attempts().origin() != Origin.BY_HAND) {
			skips.debug("key={} unit={} {}", request.key(), record.unit(), reason);
		}
		else {
			skips.info("key={} unit={} {}", request.key(), record.unit(), reason);
		}
		return skipped(request, Outcome.SKIPPED_DONE, record, null, reason);
	}

	<T extends @Nullable Object> RunResult<T> doneByCondition(LockRequest request) {
		String reason = "skipped: the condition says that it is done already";
		skips.info("key={} unit={} {}", request.key(), unitOf(request), reason);
		return skipped(request, Outcome.SKIPPED_DONE, null, null, reason);
	}

	<T extends @Nullable Object> RunResult<T> doneProvisionally(LockRequest request) {
		String reason = "skipped: this transaction has run it already, and its commit records that";
		skips.info("key={} unit={} {}", request.key(), unitOf(request), reason);
		return skipped(request, Outcome.SKIPPED_DONE, null, null, reason);
	}

	<T extends @Nullable Object> RunResult<T> inDoubt(LockRequest request, RunRecord doubt) {
		String reason = "skipped: in doubt, the run by " + describe(doubt.owner()) + " that began at " + doubt.began()
				+ " with token " + doubt.token() + " ended without an outcome";
		skips.info("key={} unit={} {}", request.key(), doubt.unit(), reason);
		return skipped(request, Outcome.SKIPPED_IN_DOUBT, doubt, null, reason);
	}

	<T extends @Nullable Object> RunResult<T> notYet(LockRequest request, Acquisition.NotYet notYet) {
		RunRecord last = notYet.last();
		if (last.status() == RunRecord.Status.IN_DOUBT) {
			return inDoubt(request, last);
		}
		String reason = "skipped: attempt " + last.attempt() + " by " + describe(last.owner()) + " failed at "
				+ last.ended() + ((last.error() != null) ? " (" + last.error() + ")" : "")
				+ (notYet.remaining().isZero() ? "" : ", the next may begin in " + notYet.remaining());
		if (request.attempts().origin() == Origin.STARTER) {
			skips.debug("key={} unit={} {}", request.key(), last.unit(), reason);
		}
		else {
			skips.info("key={} unit={} {}", request.key(), last.unit(), reason);
		}
		return skipped(request, Outcome.SKIPPED_FAILED, last, notYet.remaining(), reason);
	}

	void ran(LockRequest request, int attempt, Outcome outcome, String reason, Duration took,
			@Nullable Throwable failure) {
		tell(request, new Run(request.key(), request.name(), unitOf(request), outcome, reason, took, failure,
				request.attempts().origin(), attempt, null, null, null, null));
	}

	private <T extends @Nullable Object> RunResult<T> skipped(LockRequest request, Outcome outcome,
			@Nullable RunRecord record, @Nullable Duration remaining, String reason) {
		int attempt = (record != null) ? record.attempt() : 0;
		tell(request, new Run(request.key(), request.name(), unitOf(request), outcome, reason, Duration.ZERO, null,
				request.attempts().origin(), attempt, record, null, null, remaining));
		return new RunResult<>(outcome, null, record, (record != null) ? record.owner() : null, reason);
	}

	private void tell(LockRequest request, Run run) {
		this.listeners.run(run, request.observer());
	}

	static String describe(Owner owner) {
		return owner.instance() + " (host " + owner.host() + ", pid " + owner.pid() + ")";
	}

	private static @Nullable String unitOf(LockRequest request) {
		RunUnit unit = request.unit();
		return (unit != null) ? unit.id() : null;
	}

}
