package io.mutex.status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.Timetable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds jobs whose unit was due and has not succeeded within the grace of its
 * {@link Timetable}. What this instance knows decides first; only a job that seems
 * overdue is asked for at the store, once, and again when some time has passed.
 */
public final class OverdueRuns {

	private static final Duration MIN_RECHECK = Duration.ofMinutes(1);

	private static final Duration MAX_RECHECK = Duration.ofHours(1);

	private static final Logger logger = LoggerFactory.getLogger(OverdueRuns.class);

	private final Supplier<List<DeclaredRun>> runs;

	private final Supplier<LockProvider> provider;

	private final LastSuccesses successes;

	private final InstantSource clock;

	private final Instant started;

	private final Map<String, Verdict> verdicts = new ConcurrentHashMap<>();

	private final AtomicBoolean asking = new AtomicBoolean();

	/**
	 * Creates the watch over the declared jobs.
	 * @param runs gives the declared jobs
	 * @param provider gives the store
	 * @param successes the successes that this instance has heard of
	 * @param clock the clock of this instance
	 */
	public OverdueRuns(Supplier<List<DeclaredRun>> runs, Supplier<LockProvider> provider, LastSuccesses successes,
			InstantSource clock) {
		this.runs = runs;
		this.provider = provider;
		this.successes = successes;
		this.clock = clock;
		this.started = clock.instant();
	}

	/**
	 * The jobs that are overdue. Asks the store once about each that seems to be.
	 * @return the overdue jobs
	 * @throws MutexException if the store cannot be asked
	 */
	public List<Overdue> find() {
		List<Overdue> found = new ArrayList<>();
		for (DeclaredRun run : this.runs.get()) {
			Instant now = this.clock.instant();
			Instant due = missed(run, now);
			if (due != null && isToBeAsked(run, due, now)) {
				ask(run, now);
				due = missed(run, now);
			}
			if (due != null && isConfirmed(run, due)) {
				found.add(new Overdue(run, due, Duration.between(due, now)));
			}
		}
		return found;
	}

	/**
	 * By how much a job is overdue, as far as this instance knows. Asks no store: where
	 * the answer of one is needed, it is asked in the background for the next call.
	 * @param run the job
	 * @return the time since its unit was due; zero if it is not overdue; {@code null} if
	 * this instance does not know
	 */
	public @Nullable Duration known(DeclaredRun run) {
		Instant now = this.clock.instant();
		Instant due = missed(run, now);
		if (due == null) {
			return (this.successes.of(run.name()) != null) ? Duration.ZERO : null;
		}
		if (isToBeAsked(run, due, now)) {
			askInBackground(run, now);
		}
		Verdict verdict = this.verdicts.get(run.name());
		if (verdict == null || !verdict.due().equals(due)) {
			return null;
		}
		return verdict.overdue() ? Duration.between(due, now) : Duration.ZERO;
	}

	/**
	 * When a unit of a job was due that is overdue after some success.
	 * @param run the job
	 * @param last the last success, or {@code null} if there is none
	 * @param now the time
	 * @return when it was due, or {@code null} if nothing is overdue
	 */
	public @Nullable Instant missedSince(DeclaredRun run, @Nullable Success last, Instant now) {
		Timetable timetable = run.timetable();
		Instant due = (last != null) ? timetable.dueAfter(last.unit(), last.began()) : timetable.firstDue(this.started);
		return (due != null && due.plus(timetable.grace(due)).isBefore(now)) ? due : null;
	}

	private @Nullable Instant missed(DeclaredRun run, Instant now) {
		return run.constant() ? missedSince(run, this.successes.of(run.name()), now) : null;
	}

	private boolean isConfirmed(DeclaredRun run, Instant due) {
		Verdict verdict = this.verdicts.get(run.name());
		return verdict != null && verdict.overdue() && verdict.due().equals(due);
	}

	private boolean isToBeAsked(DeclaredRun run, Instant due, Instant now) {
		Verdict verdict = this.verdicts.get(run.name());
		if (verdict == null || !verdict.due().equals(due)) {
			return true;
		}
		Duration interval = run.timetable().interval(due);
		Duration recheck = (interval.compareTo(MIN_RECHECK) < 0) ? MIN_RECHECK : interval;
		recheck = (recheck.compareTo(MAX_RECHECK) > 0) ? MAX_RECHECK : recheck;
		return !verdict.asked().plus(recheck).isAfter(now);
	}

	private void ask(DeclaredRun run, Instant now) {
		LockProvider store = this.provider.get();
		store.lastSuccess(run.name()).ifPresent((record) -> this.successes.learn(run.name(), Success.of(record)));
		Instant due = missed(run, now);
		if (due != null) {
			Optional<HeldLock> held = store.lock(run.name());
			this.verdicts.put(run.name(),
					new Verdict(due, now, held.filter((lock) -> runsNow(run, lock, now)).isEmpty()));
		}
	}

	// The holder runs the unit that is due now, not one that should have ended before.
	private static boolean runsNow(DeclaredRun run, HeldLock lock, Instant now) {
		Instant next = run.timetable().dueAfter(lock.unit(), lock.acquiredAt());
		return next == null || next.plus(run.timetable().grace(next)).isAfter(now);
	}

	private void askInBackground(DeclaredRun run, Instant now) {
		if (!this.asking.compareAndSet(false, true)) {
			return;
		}
		Thread asker = new Thread(() -> {
			try {
				ask(run, now);
			}
			catch (RuntimeException ex) {
				logger.debug("Could not ask whether '{}' is overdue", run.name(), ex);
			}
			finally {
				this.asking.set(false);
			}
		}, "mutex-overdue");
		asker.setDaemon(true);
		asker.start();
	}

	/**
	 * A job that is overdue.
	 *
	 * @param run the job
	 * @param due when its unit was due
	 * @param by the time since then
	 */
	public record Overdue(DeclaredRun run, Instant due, Duration by) {

	}

	/** What the store said of a job that seemed overdue. */
	private record Verdict(Instant due, Instant asked, boolean overdue) {

	}

}
