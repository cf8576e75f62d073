package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store for a key until it answers or the waiting is over.
 */
final class Acquirer {

	/** How often an answer that did not arrive is asked for, in all. */
	private static final int ASKS = 3;

	private static final long MAX_PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

	private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

	private static final Logger logger = LoggerFactory.getLogger(Acquirer.class);

	private static final Answer UNKNOWN = new Answer(new Acquisition.Held(null, null, Duration.ZERO), null, null,
			false);

	private final LockProvider provider;

	private final EngineSettings settings;

	private final TimeSource time;

	private final Supplier<String> nonces;

	private final WaitingLine line;

	private final Monitors monitors;

	private final BooleanSupplier accepting;

	private final Executor background;

	Acquirer(LockProvider provider, EngineSettings settings, TimeSource time, Supplier<String> nonces, WaitingLine line,
			Monitors monitors, BooleanSupplier accepting, Executor background) {
		this.provider = provider;
		this.settings = settings;
		this.time = time;
		this.nonces = nonces;
		this.line = line;
		this.monitors = monitors;
		this.accepting = accepting;
		this.background = background;
	}

	/**
	 * Asks once, and then again while the key is held or held back and there is time to
	 * wait.
	 * @param request what to ask for
	 * @param owner who asks
	 * @param ttl the length of the lease
	 * @param floor the token must be higher than this
	 * @param patient whether to wait in any case for a store that has lost data and
	 * grants nothing for a while
	 * @return the last answer; if it is {@link Acquisition.Held} or
	 * {@link Acquisition.HeldBack} the waiting is over
	 * @throws LockNotAcquiredException if the thread is interrupted while it waits, or
	 * the application shuts down
	 * @throws MutexException if the store did not answer, or too late to be of use
	 */
	Answer acquire(LockRequest request, Owner owner, Duration ttl, long floor, boolean patient) {
		Duration waitFor = (request.waitFor().compareTo(LONGEST_WAIT) < 0) ? request.waitFor() : LONGEST_WAIT;
		Answer answer = acquire(request, owner, ttl, floor, waitFor, Acquirer::isBusy);
		while (patient && answer.acquisition() instanceof Acquisition.HeldBack heldBack) {
			answer = acquire(request, owner, ttl, floor, heldBack.remaining(), Acquirer::isHeldBack);
		}
		return answer;
	}

	private Answer acquire(LockRequest request, Owner owner, Duration ttl, long floor, Duration waitFor,
			Predicate<Acquisition> waits) {
		long deadline = this.time.monotonicNanos() + waitFor.toNanos();
		if (waitFor.isZero()) {
			return ask(request, owner, ttl, floor);
		}
		Answer answer = UNKNOWN;
		if (this.line.isEmpty(request.key())) {
			answer = ask(request, owner, ttl, floor);
			if (!waits.test(answer.acquisition())) {
				return answer;
			}
		}
		try (Monitors.Waiting waiting = this.monitors.waiting(request)) {
			if (!this.line.join(request.key(), deadline - this.time.monotonicNanos())) {
				return answer;
			}
			try {
				return askUntil(deadline, request, owner, ttl, floor, answer, waits);
			}
			finally {
				this.line.leave(request.key());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw interrupted(request.key(), ex);
		}
	}

	private static boolean isBusy(Acquisition acquisition) {
		return acquisition instanceof Acquisition.Held || isHeldBack(acquisition);
	}

	private static boolean isHeldBack(Acquisition acquisition) {
		return acquisition instanceof Acquisition.HeldBack;
	}

	private static @Nullable Duration remaining(Acquisition acquisition) {
		if (acquisition instanceof Acquisition.HeldBack heldBack) {
			return heldBack.remaining();
		}
		return (acquisition instanceof Acquisition.Held held) ? held.remaining() : null;
	}

	private static LockNotAcquiredException interrupted(String key, Exception cause) {
		return new LockNotAcquiredException(key, Reason.INTERRUPTED, null,
				"the thread was interrupted while it asked for key '" + key + "'; the work was not run", cause);
	}

	// Asks as the first of the line, and not once the time is over.
	private Answer askUntil(long deadline, LockRequest request, Owner owner, Duration ttl, long floor, Answer first,
			Predicate<Acquisition> waits) throws InterruptedException {
		Answer answer = first;
		long poll = this.settings.minPoll().toNanos();
		while (deadline - this.time.monotonicNanos() > 0) {
			if (!this.accepting.getAsBoolean()) {
				throw new LockNotAcquiredException(request.key(), Reason.SHUTTING_DOWN, null,
						"stopped waiting for key '" + request.key() + "': the application is shutting down");
			}
			answer = ask(request, owner, ttl, floor);
			if (!waits.test(answer.acquisition())) {
				return answer;
			}
			long left = deadline - this.time.monotonicNanos();
			this.line.pause(request.key(), Math.min(left, pollInterval(poll, remaining(answer.acquisition()))));
			poll = Math.min(this.settings.maxPoll().toNanos(), poll * 3 / 2);
		}
		return answer;
	}

	private long pollInterval(long poll, @Nullable Duration remaining) {
		long jittered = poll / 2 + ThreadLocalRandom.current().nextLong(poll / 2 + 1);
		long capped = (remaining != null && !remaining.isZero()) ? Math.min(jittered, remaining.toNanos()) : jittered;
		return Math.max(this.settings.minPoll().toNanos(), capped);
	}

	// A missing answer is asked for again with the same nonce, which resolves it.
	private Answer ask(LockRequest request, Owner owner, Duration ttl, long floor) {
		String nonce = this.nonces.get();
		int attempt = request.attempts().expected();
		int unanswered = 0;
		Validity sent = Validity.sentNow(this.time, ttl);
		Acquisition acquisition = null;
		while (acquisition == null) {
			try {
				acquisition = this.provider.acquire(new AcquireRequest(request.key(), request.name(), nonce, owner, ttl,
						floor, request.unit(), attempt, 1, request.permits(), null));
				if (acquisition instanceof Acquisition.NotYet notYet && follows(notYet, attempt, request)) {
					attempt = notYet.last().attempt() + 1;
					acquisition = null;
				}
			}
			catch (RuntimeException ex) {
				unanswered++;
				resolve(request, nonce, ex, unanswered >= ASKS || sent.remaining(this.time) < ttl.toNanos() * 2 / 3);
			}
			catch (Error ex) {
				giveBack(request.key(), nonce);
				throw ex;
			}
		}
		if (unanswered > 0 && !(acquisition instanceof Acquisition.Granted)) {
			// an earlier request may still be under way, and must grant nothing
			giveBack(request.key(), nonce);
		}
		return answer(acquisition, nonce, sent, request, ttl, unanswered > 0);
	}

	private void resolve(LockRequest request, String nonce, RuntimeException failure, boolean last) {
		if (Thread.currentThread().isInterrupted()) {
			giveBack(request.key(), nonce);
			throw interrupted(request.key(), failure);
		}
		if (last) {
			giveBack(request.key(), nonce);
			throw asMutexException(request.key(), failure);
		}
		logger.debug("No answer for key={} provider={}; asking again with the same nonce", request.key(),
				this.provider.name(), failure);
		pause();
	}

	// The last attempt has died or is of an earlier firing, so this call is the next one.
	private static boolean follows(Acquisition.NotYet notYet, int attempt, LockRequest request) {
		RunRecord last = notYet.last();
		boolean reportOnly = last.status() == Status.IN_DOUBT && request.skipInDoubt() && request.unless() == null;
		return !reportOnly && attempt <= last.attempt() && request.attempts().follow(last, notYet.remaining());
	}

	private Answer answer(Acquisition acquisition, String nonce, Validity sent, LockRequest request, Duration ttl,
			boolean askedAgain) {
		if (!(acquisition instanceof Acquisition.Granted granted)) {
			return new Answer(acquisition, null, null, askedAgain);
		}
		if (this.provider.expires() && sent.remaining(this.time) <= 0) {
			giveBack(request.key(), nonce);
			throw new MutexException(request.key(),
					"the " + this.provider.name() + " store granted key '" + request.key()
							+ "' too late to be of use: the answer took longer than the lease of " + ttl
							+ " allows; the work was not run");
		}
		return new Answer(acquisition, new Grant(request.key(), nonce, granted.token(), ttl, request.permits() > 1),
				sent, askedAgain);
	}

	// The store may have granted what we know nothing of; if this fails too, it expires.
	private void giveBack(String key, String nonce) {
		this.background.execute(() -> {
			try {
				this.provider.release(key, nonce, false);
			}
			catch (RuntimeException | Error ex) {
				logger.debug("Could not give back key={} provider={}; a lease that may have been granted expires", key,
						this.provider.name(), ex);
			}
		});
	}

	private MutexException asMutexException(String key, RuntimeException ex) {
		if (ex instanceof MutexException mutexException) {
			return mutexException;
		}
		return new MutexException(key,
				"the " + this.provider.name() + " store failed for key '" + key + "'; the work was not run", ex);
	}

	private static void pause() {
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE / 4, MAX_PAUSE));
	}

	/**
	 * The answer of the store.
	 *
	 * @param acquisition what it said
	 * @param grant the proof, if the key was granted
	 * @param sent from when on the lease counts, if the key was granted
	 * @param askedAgain whether an earlier request may still be under way
	 */
	record Answer(Acquisition acquisition, @Nullable Grant grant, @Nullable Validity sent, boolean askedAgain) {

		// as MutexListener#acquisition names it
		String outcome() {
			if (this.acquisition instanceof Acquisition.Granted) {
				return "granted";
			}
			if (this.acquisition instanceof Acquisition.Held) {
				return "held";
			}
			if (this.acquisition instanceof Acquisition.HeldBack) {
				return "held_back";
			}
			if (this.acquisition instanceof Acquisition.Done) {
				return "done";
			}
			if (this.acquisition instanceof Acquisition.NotYet) {
				return "not_yet";
			}
			return (this.acquisition instanceof Acquisition.TooEarly) ? "too_early" : "error";
		}

	}

}
