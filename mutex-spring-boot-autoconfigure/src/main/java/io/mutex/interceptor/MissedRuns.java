package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Future;

import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.run.Attempts;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import io.mutex.run.Tick;
import io.mutex.run.Ticks;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.TaskScheduler;

/**
 * Finds at start-up the jobs whose last unit was missed, and has them run.
 */
final class MissedRuns {

	private static final int RECENT = 10;

	private static final int MAX_ASKS = 20;

	private static final long MAX_PAUSE_SECONDS = 30;

	private static final Logger logger = LoggerFactory.getLogger(MissedRuns.class);

	private final BeanFactory beanFactory;

	private final RepeatSchedulers schedulers;

	private final RunRepeater repeater;

	private final LockProvider provider;

	private final InstantSource clock;

	MissedRuns(BeanFactory beanFactory, RepeatSchedulers schedulers, RunRepeater repeater, LockProvider provider,
			InstantSource clock) {
		this.beanFactory = beanFactory;
		this.schedulers = schedulers;
		this.repeater = repeater;
		this.provider = provider;
		this.clock = clock;
	}

	/**
	 * Looks for the missed unit of a job, on the scheduler of the job.
	 * @param operation the job
	 */
	void catchUp(SingleRunOperation operation) {
		Ticks ticks = operation.schedule().ticks();
		if (ticks != null) {
			lookIn(Duration.ZERO, operation, ticks, 1);
		}
	}

	private void lookIn(Duration time, SingleRunOperation operation, Ticks ticks, int asked) {
		TaskScheduler scheduler = this.schedulers.get(operation);
		Future<?> unused = scheduler.schedule(() -> look(operation, ticks, asked),
				scheduler.getClock().instant().plus(time));
	}

	private void look(SingleRunOperation operation, Ticks ticks, int asked) {
		if (!this.repeater.isAccepting()) {
			return;
		}
		Instant now = this.clock.instant();
		Tick tick = Tick.latest(ticks, now);
		RunUnit unit = (tick != null) ? UnitChoice.unitOf(operation, tick) : null;
		if (tick == null || unit == null) {
			return;
		}
		try {
			List<RunRecord> runs = this.provider.runs(operation.key().text(), RECENT);
			if (runs.isEmpty() && this.provider.lock(operation.key().text()).isEmpty()) {
				logger.debug("Not caught up, as it has never run: key={}", operation.key().text());
				return;
			}
			RunRecord last = runs.stream().filter((run) -> run.unit().equals(unit.id())).findFirst().orElse(null);
			Attempts attempts = UnitChoice.attempts(operation, ticks, tick, false);
			makeUp(new Ticket(operation, operation.key().text(), unit, attempts,
					this.beanFactory.getBean(operation.declaration().beanName()), 0, 0), last);
		}
		catch (MutexException ex) {
			lookAgain(operation, ticks, asked, ex);
		}
	}

	private void makeUp(Ticket missed, @Nullable RunRecord last) {
		if (last == null) {
			logger.info("Catching up: key={} unit={} has no run", missed.key(), missed.unit().id());
			this.repeater.schedule(missed.repeated(1, false), Duration.ZERO);
			return;
		}
		boolean again = switch (last.status()) {
			case DONE -> false;
			case FAILED -> missed.attempts().retries(last.attempt());
			case IN_DOUBT -> missed.attempts().allows(last.attempt() + 1);
		};
		if (again) {
			logger.info("Catching up: attempt {} of key={} unit={} by {} ended as {}", last.attempt(), missed.key(),
					missed.unit().id(), last.owner().instance(), last.status());
			this.repeater.schedule(missed.repeated(last.attempt() + 1, false), Duration.ZERO);
		}
		else if (last.status() == Status.IN_DOUBT) {
			logger.warn("Not caught up: key={} unit={} has died in {} attempts", missed.key(), missed.unit().id(),
					last.attempt());
		}
	}

	private void lookAgain(SingleRunOperation operation, Ticks ticks, int asked, MutexException cause) {
		if (asked == MAX_ASKS) {
			logger.error("Nobody knows whether a run of {} was missed: the store does not answer",
					operation.declaration(), cause);
			return;
		}
		Duration pause = Duration.ofSeconds(Math.min(MAX_PAUSE_SECONDS, 1L << (asked - 1)));
		logger.warn("Could not ask whether a run of {} was missed: {} Asking again in {}.", operation.declaration(),
				cause.getMessage(), pause);
		lookIn(pause, operation, ticks, asked + 1);
	}

}
