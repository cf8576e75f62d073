package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.MutexException;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * Acquires keys: asks the store, and waits in the line of this process where a key is
 * held and there is time to wait.
 */
final class Acquirer {

	private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

	/** The part of the shortest poll after which one that is passed over asks first. */
	private static final int HURRY = 16;

	/** How often one question may be asked earlier than after the shortest poll. */
	private static final int MOST_HURRIED = 8;

	private static final Acquisition.Held HELD = new Acquisition.Held(null, null, Duration.ZERO);

	private final Asker asker;

	private final EngineSettings settings;

	private final TimeSource time;

	private final WaitingLine line;

	private final LeaseKeeper keeper;

	private final Monitors monitors;

	private final Signals signals;

	private final BooleanSupplier accepting;

	Acquirer(Asker asker, EngineSettings settings, TimeSource time, WaitingLine line, LeaseKeeper keeper,
			Monitors monitors, Signals signals, BooleanSupplier accepting) {
		this.asker = asker;
		this.settings = settings;
		this.time = time;
		this.line = line;
		this.keeper = keeper;
		this.monitors = monitors;
		this.signals = signals;
		this.accepting = accepting;
	}

	/**
	 * Asks once, and then again while the key is held or held back and there is time to
	 * wait.
	 * @param question what to ask for
	 * @param patient whether to wait in any case for a store that has lost data and
	 * grants nothing for a while
	 * @return the last answer; if it is {@link Acquisition.Held} or
	 * {@link Acquisition.HeldBack} the waiting is over
	 * @throws LockNotAcquiredException if the thread is interrupted while it waits, or
	 * the application shuts down
	 * @throws MutexException if the store did not answer, or too late to be of use
	 */
	Answer acquire(Question question, boolean patient) {
		Duration waitFor = question.request().waitFor();
		Answer answer = acquire(question, (waitFor.compareTo(LONGEST_WAIT) < 0) ? waitFor : LONGEST_WAIT,
				Acquirer::isBusy);
		while (patient && answer.acquisition() instanceof Acquisition.HeldBack heldBack) {
			answer = acquire(question, heldBack.remaining(), Acquirer::isHeldBack);
		}
		return answer;
	}

	private static boolean isBusy(Acquisition acquisition) {
		return acquisition instanceof Acquisition.Held || isHeldBack(acquisition);
	}

	private static boolean isHeldBack(Acquisition acquisition) {
		return acquisition instanceof Acquisition.HeldBack;
	}

	private Answer acquire(Question question, Duration waitFor, Predicate<Acquisition> waits) {
		long start = this.time.monotonicNanos();
		if (waitFor.isZero()) {
			return this.asker.ask(question, 1, null, start + LONGEST_WAIT.toNanos());
		}
		long deadline = start + waitFor.toNanos();
		Waiter waiter = this.line.join(question.key(), question.takesTurns() ? question.ttl() : null, deadline);
		try {
			Answer answer = new Passage(question, waiter, deadline, waits).run();
			Turn turn = (waiter.turn() != null) ? waiter.turn() : this.line.leave(waiter, !isAlone(answer));
			return (turn != null) ? Answer.handed(turn) : answer;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return leave(waiter, Asker.interrupted(question.key(), ex));
		}
		catch (LockNotAcquiredException ex) {
			return leave(waiter, ex);
		}
		catch (RuntimeException | Error ex) {
			Turn turn = this.line.leave(waiter, true);
			if (turn != null) {
				this.asker.giveBack(question.key(), turn.grant().nonce());
			}
			throw ex;
		}
	}

	// A turn that was handed over before is a grant, whatever came after it.
	private Answer leave(Waiter waiter, LockNotAcquiredException reason) {
		Turn turn = this.line.leave(waiter, true);
		if (turn == null) {
			throw reason;
		}
		return Answer.handed(turn);
	}

	// whether the next of the line would be refused
	private static boolean isAlone(Answer answer) {
		return answer.turn() != null && !answer.turn().grant().shared();
	}

	// What the store would answer while a holder of this process excludes all others.
	private Acquisition.@Nullable Held heldHere(Question question) {
		HeldLease holder = this.keeper.holder(question.key());
		if (holder == null || !holder.isValid()) {
			return null;
		}
		Owner self = question.owner();
		return new Acquisition.Held(new Owner(self.instance(), self.host(), self.pid(), holder.thread()), holder.unit(),
				holder.remaining());
	}

	// The place is kept for a bit more than two polls, so that one that has died costs
	// the
	// others little. A run of a unit takes none, since it may find its unit done.
	private @Nullable Reservation reservation(Question question, long poll) {
		if (question.request().unit() != null || question.request().waitFor().isZero()) {
			return null;
		}
		return new Reservation(this.signals.waiter(),
				Duration.ofNanos(poll * 2).plus(this.settings.minPoll()).plusMillis(1));
	}

	private static long jittered(long poll) {
		return poll / 2 + ThreadLocalRandom.current().nextLong(poll / 2 + 1);
	}

	private static long shorter(long poll, @Nullable Duration remaining) {
		return (remaining != null && !remaining.isZero()) ? Math.min(poll, remaining.toNanos()) : poll;
	}

	private static @Nullable Duration remaining(Acquisition acquisition) {
		if (acquisition instanceof Acquisition.HeldBack heldBack) {
			return heldBack.remaining();
		}
		return (acquisition instanceof Acquisition.Held held) ? held.remaining() : null;
	}

	/**
	 * The way of one question through the line. It is asked as the first of the line,
	 * unless a holder of this process will tell of its end, and not once the time is
	 * over.
	 */
	private final class Passage {

		private final Question question;

		private final Waiter waiter;

		private final long deadline;

		private final Predicate<Acquisition> waits;

		private Answer answer = Answer.refused(HELD);

		private long poll = Acquirer.this.settings.minPoll().toNanos();

		private long soon = this.poll / HURRY;

		private int hurried;

		private @Nullable Owner holder;

		private long pause;

		private boolean asked;

		private boolean waited;

		Passage(Question question, Waiter waiter, long deadline, Predicate<Acquisition> waits) {
			this.question = question;
			this.waiter = waiter;
			this.deadline = deadline;
			this.waits = waits;
		}

		Answer run() throws InterruptedException {
			if (!isAnswered()) {
				try (Monitors.Waiting waiting = Acquirer.this.monitors.waiting(this.question.request())) {
					this.waited = true;
					await();
				}
			}
			return this.answer;
		}

		private void await() throws InterruptedException {
			do {
				Turn turn = this.waiter.await(Math.min(left(), this.pause));
				if (turn != null) {
					this.answer = Answer.handed(turn);
					return;
				}
			}
			while (left() > 0 && !isAnswered());
		}

		private long left() {
			return this.deadline - Acquirer.this.time.monotonicNanos();
		}

		private boolean isAnswered() {
			if (!Acquirer.this.accepting.getAsBoolean()) {
				throw new LockNotAcquiredException(this.question.key(), Reason.SHUTTING_DOWN, null,
						"stopped waiting for key '" + this.question.key() + "': the application is shutting down");
			}
			this.pause = Acquirer.this.settings.maxPoll().toNanos();
			// the unit of a run may be done, whoever holds the key
			Acquisition here = (this.asked || this.question.request().unit() == null) ? heldHere(this.question) : null;
			if (here != null && this.waits.test(here)) {
				this.answer = Answer.refused(here);
				return false;
			}
			return Acquirer.this.line.ask(this.waiter) && ask();
		}

		private boolean ask() {
			long least = Acquirer.this.settings.minPoll().toNanos();
			long next = Math.max(least, jittered(this.poll));
			this.asked = true;
			Reservation reservation = reservation(this.question, next);
			this.answer = Acquirer.this.asker.ask(this.question, tokens(), reservation, this.deadline);
			if (!this.waits.test(this.answer.acquisition())) {
				return true;
			}
			Acquirer.this.line.refused(this.waiter);
			if (reservation != null) {
				Acquirer.this.signals.start();
			}
			boolean passedOver = reservation != null && isPassedOver(this.answer.acquisition());
			if (passedOver && this.hurried++ < MOST_HURRIED) {
				this.pause = jittered(this.soon);
				this.soon = Math.min(least, this.soon * 3 / 2);
				return false;
			}
			this.pause = Math.max(least, shorter(next, remaining(this.answer.acquisition())));
			this.poll = Math.min(Acquirer.this.settings.maxPoll().toNanos(), this.poll * 3 / 2);
			return false;
		}

		// Whether the key goes to another though this one waits, which therefore has not
		// got the place of the next holder. The place is empty again once it is taken up.
		// A
		// holder that the store cannot name leaves no time.
		private boolean isPassedOver(Acquisition acquisition) {
			if (!(acquisition instanceof Acquisition.Held held)) {
				return false;
			}
			Owner before = this.holder;
			this.holder = held.holder();
			Duration left = held.remaining();
			return (this.holder != null) ? before != null && !before.equals(this.holder)
					: left != null && left.compareTo(Duration.ZERO) > 0;
		}

		// where others want the key too, they may have turns
		private int tokens() {
			boolean wanted = this.waited || Acquirer.this.line.waiting(this.question.key()) > 1;
			return (wanted && this.question.takesTurns()) ? Turn.MOST : 1;
		}

	}

}
