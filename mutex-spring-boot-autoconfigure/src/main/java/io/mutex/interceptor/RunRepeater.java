package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import io.mutex.MutexListener.Run;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ReflectionUtils;

/**
 * Makes the calls that no scheduler makes: tries again what has failed, takes over what
 * has died, and makes up for what was missed. At most one call of a unit is pending on
 * this instance; which of several instances makes an attempt is decided by the store.
 */
final class RunRepeater {

	private static final Logger logger = LoggerFactory.getLogger(RunRepeater.class);

	private final RepeatSchedulers schedulers;

	private final InstantSource clock;

	private final Map<Unit, Pending> pending = new ConcurrentHashMap<>();

	private volatile boolean accepting = true;

	RunRepeater(RepeatSchedulers schedulers, InstantSource clock) {
		this.schedulers = schedulers;
		this.clock = clock;
	}

	/**
	 * Observes a call, and makes the next one if there has to be one.
	 * @param call the call
	 * @return the observer, or {@code null} if the starter makes no calls of this job
	 */
	@Nullable Consumer<Run> observe(Ticket call) {
		return call.operation().repeats().any() ? (run) -> ended(call, run) : null;
	}

	/**
	 * Calls a method soon.
	 * @param call the call to make
	 * @param in how long from now
	 */
	void schedule(Ticket call, Duration in) {
		Unit unit = new Unit(call.key(), call.unit().id());
		this.pending.compute(unit, (same, before) -> {
			if (before != null) {
				before.cancel();
			}
			return this.accepting ? start(unit, call, in) : null;
		});
	}

	/**
	 * Accepts calls, also again after {@link #stop()}.
	 */
	void start() {
		this.accepting = true;
	}

	/**
	 * Forgets the pending calls and makes no more.
	 */
	void stop() {
		this.accepting = false;
		this.pending.keySet().forEach(this::forget);
	}

	/**
	 * Whether calls are made.
	 * @return {@code false} while it is stopped
	 */
	boolean isAccepting() {
		return this.accepting;
	}

	/**
	 * How many calls will be made.
	 * @return the number
	 */
	int pending() {
		return this.pending.size();
	}

	private void ended(Ticket call, Run run) {
		boolean attempted = run.outcome() != Outcome.FAILED || run.attempt() > 0;
		follow(attempted ? call : call.withoutAnswer(), run);
	}

	private void follow(Ticket call, Run run) {
		Repetition next = Repetition.after(run, call.attempts(), call.looks(), call.operation().lease(),
				this.clock.instant());
		if (next == null || call.unanswered() > call.operation().repeats().maxRetries()) {
			forget(new Unit(call.key(), call.unit().id()));
			if (run.outcome() == Outcome.FAILED && call.attempts().delay() != null && this.accepting) {
				logger.warn(
						"A run of key={} unit={} has failed, and the starter makes no other before the next "
								+ "firing of the schedule: attempt {} of {}",
						call.key(), call.unit().id(), run.attempt(), call.attempts().limit());
			}
			return;
		}
		if (run.outcome() == Outcome.FAILED && this.accepting) {
			logger.info("A run of key={} unit={} has failed; attempt {} is due in {}", call.key(), call.unit().id(),
					next.attempt(), next.in());
		}
		schedule(call.repeated(next.attempt(), run.outcome() == Outcome.SKIPPED_HELD), next.in());
	}

	private void forget(Unit unit) {
		this.pending.computeIfPresent(unit, (same, before) -> {
			before.cancel();
			return null;
		});
	}

	private @Nullable Pending start(Unit unit, Ticket call, Duration in) {
		Pending started = new Pending();
		try {
			TaskScheduler scheduler = this.schedulers.get(call.operation());
			started.task = scheduler.schedule(() -> run(unit, started, call), scheduler.getClock().instant().plus(in));
			return started;
		}
		catch (TaskRejectedException ex) {
			logger.debug("Attempt {} of key={} unit={} is not made here: the scheduler has stopped",
					call.attempts().expected(), call.key(), call.unit().id(), ex);
			return null;
		}
	}

	private void run(Unit unit, Pending own, Ticket call) {
		this.pending.remove(unit, own);
		if (!this.accepting || isTooLate(call)) {
			return;
		}
		try {
			call.call();
		}
		catch (Throwable ex) {
			ReflectionUtils.rethrowRuntimeException(ex);
		}
	}

	// the scheduler may have had no thread for it before the next firing
	private boolean isTooLate(Ticket call) {
		Instant until = call.attempts().until();
		if (until == null || this.clock.instant().isBefore(until)) {
			return false;
		}
		logger.warn("Attempt {} of key={} unit={} is not made, as the schedule has fired again meanwhile",
				call.attempts().expected(), call.key(), call.unit().id());
		return true;
	}

	private record Unit(String key, String unit) {

	}

	/** A call that will be made. */
	private static final class Pending {

		private volatile @Nullable Future<?> task;

		void cancel() {
			Future<?> cancelled = this.task;
			if (cancelled != null) {
				cancelled.cancel(false);
			}
		}

	}

}
