package io.mutex.actuate.endpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.actuate.endpoint.JobDescriptor.CallDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.RunDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.SuccessDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitDescriptor;
import io.mutex.actuate.endpoint.JobDescriptor.UnitState;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.Period;
import io.mutex.run.RunRecord;
import io.mutex.run.RunUnit;
import io.mutex.run.Timetable;
import io.mutex.status.LastSuccesses;
import io.mutex.status.OverdueRuns;
import io.mutex.status.RunLog;
import io.mutex.status.Success;
import org.jspecify.annotations.Nullable;

/**
 * Puts together what the declaration, the store and this instance know of a job.
 */
final class JobDescriber {

	/** How many runs are shown of one job. */
	static final int RUNS = 10;

	/** How many keys are shown of one key template. */
	static final int KEYS = 20;

	private static final int MAX_REASON = 300;

	private static final Timetable NO_TIMETABLE = new Timetable(Period.NONE, ZoneId.systemDefault(), null, null, false);

	private final LockProvider store;

	private final RunLog log;

	private final LastSuccesses successes;

	private final OverdueRuns overdue;

	private final String self;

	private final InstantSource clock;

	JobDescriber(LockProvider store, RunLog log, LastSuccesses successes, OverdueRuns overdue, String self,
			InstantSource clock) {
		this.store = store;
		this.log = log;
		this.successes = successes;
		this.overdue = overdue;
		this.self = self;
		this.clock = clock;
	}

	/**
	 * Describes a key template: its declaration, and what this instance has seen of it.
	 * @param run the declaration
	 * @return the description
	 */
	JobDescriptor template(DeclaredRun run) {
		List<String> keys = this.log.keysOf(run.name(), KEYS);
		List<CallDescriptor> here = keys.stream()
			.flatMap((key) -> this.log.of(key).stream().map((entry) -> CallDescriptor.of(key, entry)))
			.sorted(Comparator.comparing(CallDescriptor::at).reversed())
			.limit(RUNS)
			.toList();
		Success success = this.successes.of(run.name());
		Instant now = this.clock.instant();
		String summary = keys.isEmpty() ? "No key was seen lately on this instance"
				: "Keys seen lately on this instance: " + keys.size() + ((success != null) ? "; last success "
						+ PlainText.moment(success.ended(), now, run.timetable().zone()) + " of " + success.key() : "");
		return new JobDescriptor(run.name(), summary,
				(success != null) ? SuccessDescriptor.of(success, this.self) : null, null, null,
				run.timetable().nextTick(now), null, run.beanName(), run.method(), run.policy(), List.of(), here, keys);
	}

	/**
	 * Describes a job whose store cannot be asked: its declaration, and what this
	 * instance has seen of it.
	 * @param run its declaration, or {@code null} if nobody declares it
	 * @param key the key, or the declared name
	 * @param failure why the store cannot be asked
	 * @return the description
	 */
	JobDescriptor unknown(@Nullable DeclaredRun run, String key, MutexException failure) {
		Success success = (run != null) ? this.successes.of(run.name()) : null;
		return new JobDescriptor((run != null) ? run.name() : key,
				"Unknown: the store cannot be asked: " + firstLine(failure),
				(success != null) ? SuccessDescriptor.of(success, this.self) : null, null, null,
				(run != null) ? run.timetable().nextTick(this.clock.instant()) : null, null,
				(run != null) ? run.beanName() : null, (run != null) ? run.method() : null,
				(run != null) ? run.policy() : null, List.of(), calls(key), null);
	}

	/**
	 * Describes a key.
	 * @param run its declaration, or {@code null} if nobody declares it
	 * @param key the key
	 * @return the description
	 */
	JobDescriptor key(@Nullable DeclaredRun run, String key) {
		Instant now = this.clock.instant();
		List<RunRecord> runs = this.store.runs(key, RUNS);
		Success success = success(run, key, runs);
		Timetable timetable = (run != null) ? run.timetable() : NO_TIMETABLE;
		UnitDescriptor current = current(timetable, runs, this.store.lock(key), now);
		Instant due = (success != null) ? timetable.dueAfter(success.unit(), success.began()) : null;
		Instant missed = (run != null && run.constant()) ? this.overdue.missedSince(run, success, now) : null;
		if (current.state() == UnitState.DONE || current.state() == UnitState.RUNNING) {
			missed = null;
		}
		Instant nextDue = (due != null && due.isAfter(now)) ? due : next(timetable, now);
		Summary summary = new Summary(now, timetable.zone(),
				(success != null) ? SuccessDescriptor.of(success, this.self) : null,
				(success != null) ? success.took() : Duration.ZERO, current, missed, nextDue,
				timetable.period().hasUnits() || !runs.isEmpty());
		return new JobDescriptor((run != null) ? run.name() : key, summary.toString(), summary.success(), current,
				nextDue, timetable.nextTick(now), (missed != null) ? Duration.between(missed, now).toString() : null,
				(run != null) ? run.beanName() : null, (run != null) ? run.method() : null,
				(run != null) ? run.policy() : null, runs.stream().map(RunDescriptor::of).toList(), calls(key), null);
	}

	private static String firstLine(MutexException failure) {
		String line = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
		return (line.length() <= MAX_REASON) ? line : line.substring(0, MAX_REASON) + "…";
	}

	private List<CallDescriptor> calls(String key) {
		return this.log.of(key).stream().map((entry) -> CallDescriptor.of(key, entry)).toList();
	}

	private static @Nullable Instant next(Timetable timetable, Instant now) {
		RunUnit unit = timetable.unitAt(now);
		Instant begins = (unit != null) ? unit.begins() : null;
		Instant next = timetable.dueAfter((begins != null) ? begins : now);
		return (next != null && next.isAfter(now)) ? next : timetable.firstDue(now);
	}

	private @Nullable Success success(@Nullable DeclaredRun run, String key, List<RunRecord> runs) {
		Success success = runs.stream()
			.filter((record) -> record.status() == RunRecord.Status.DONE)
			.findFirst()
			.or(() -> (runs.size() < RUNS) ? Optional.empty() : this.store.lastSuccess(key))
			.map(Success::of)
			.orElse(null);
		if (run == null) {
			return success;
		}
		if (success != null) {
			this.successes.learn(run.name(), success);
			return success;
		}
		Success known = this.successes.of(run.name());
		return (known != null && known.key().equals(key)) ? known : null;
	}

	private static UnitDescriptor current(Timetable timetable, List<RunRecord> runs, Optional<HeldLock> lock,
			Instant now) {
		RunUnit unit = timetable.unitAt(now);
		String id = (unit != null) ? unit.id() : null;
		if (lock.isPresent()) {
			HeldLock held = lock.get();
			boolean same = id == null || held.unit() == null || id.equals(held.unit());
			return new UnitDescriptor(same ? held.unit() : id, same ? UnitState.RUNNING : UnitState.BLOCKED,
					held.owner().instance(), held.acquiredAt(), null, null, null);
		}
		RunRecord last = runs.stream()
			.filter((record) -> id == null || record.unit().equals(id))
			.findFirst()
			.orElse(null);
		if (last == null) {
			return new UnitDescriptor(id, UnitState.OPEN, null, null, null, null, null);
		}
		return new UnitDescriptor(last.unit(), state(last, unit, now), last.owner().instance(), last.ended(),
				last.attempt(), last.error(), last.notBefore());
	}

	private static UnitState state(RunRecord last, @Nullable RunUnit unit, Instant now) {
		return switch (last.status()) {
			case DONE -> (unit == null || unit.within() == null || last.began().plus(unit.within()).isAfter(now))
					? UnitState.DONE : UnitState.OPEN;
			case FAILED -> UnitState.FAILED;
			case IN_DOUBT -> UnitState.IN_DOUBT;
		};
	}

}
