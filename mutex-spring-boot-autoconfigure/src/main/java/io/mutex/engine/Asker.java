package io.mutex.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.mutex.AcquireRequest.Reservation;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a question to the store until it is answered.
 */
final class Asker {

	/** How often an answer that did not arrive is asked for, in all. */
	private static final int ASKS = 3;

	private static final long MAX_PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

	private static final Logger logger = LoggerFactory.getLogger(Asker.class);

	private final LockProvider provider;

	private final TimeSource time;

	private final Supplier<String> nonces;

	private final WaitingLine line;

	private final Executor background;

	Asker(LockProvider provider, TimeSource time, Supplier<String> nonces, WaitingLine line, Executor background) {
		this.provider = provider;
		this.time = time;
		this.nonces = nonces;
		this.line = line;
		this.background = background;
	}

	/**
	 * Asks once. A missing answer is asked for again with the same nonce, which resolves
	 * it, but not after the deadline.
	 * @param question the question
	 * @param tokens how many tokens to reserve
	 * @param reservation who is to be the next holder if this is refused, or {@code null}
	 * @param deadline after when nothing is asked again, by the monotonic clock
	 * @return the answer
	 * @throws LockNotAcquiredException if the thread is interrupted
	 * @throws MutexException if the store did not answer, or too late to be of use
	 */
	Answer ask(Question question, int tokens, @Nullable Reservation reservation, long deadline) {
		LockRequest request = question.request();
		String nonce = this.nonces.get();
		int attempt = request.attempts().expected();
		int unanswered = 0;
		Validity sent = Validity.sentNow(this.time, question.ttl());
		Acquisition acquisition = null;
		while (acquisition == null) {
			try {
				acquisition = this.provider.acquire(question.with(nonce, attempt, tokens, reservation));
				if (acquisition instanceof Acquisition.NotYet notYet && follows(notYet, attempt, request)) {
					attempt = notYet.last().attempt() + 1;
					acquisition = null;
				}
			}
			catch (RuntimeException ex) {
				unanswered++;
				resolve(question.key(), nonce, ex,
						unanswered >= ASKS || sent.remaining(this.time) < question.ttl().toNanos() * 2 / 3, deadline);
			}
			catch (Error ex) {
				giveBack(question.key(), nonce);
				throw ex;
			}
		}
		if (unanswered > 0 && !(acquisition instanceof Acquisition.Granted)) {
			// an earlier request may still be under way, and must grant nothing
			giveBack(question.key(), nonce);
		}
		return answer(acquisition, nonce, sent, question, unanswered > 0);
	}

	private void resolve(String key, String nonce, RuntimeException failure, boolean last, long deadline) {
		boolean over = last;
		if (!over && !Thread.currentThread().isInterrupted()) {
			logger.debug("No answer for key={} provider={}; asking again with the same nonce", key,
					this.provider.name(), failure);
			long left = deadline - this.time.monotonicNanos();
			LockSupport.parkNanos(Math.min(left, ThreadLocalRandom.current().nextLong(MAX_PAUSE / 4, MAX_PAUSE)));
			over = deadline - this.time.monotonicNanos() <= 0;
		}
		if (Thread.currentThread().isInterrupted()) {
			giveBack(key, nonce);
			throw interrupted(key, failure);
		}
		if (over) {
			giveBack(key, nonce);
			throw asMutexException(key, failure);
		}
	}

	static LockNotAcquiredException interrupted(String key, Exception cause) {
		return new LockNotAcquiredException(key, Reason.INTERRUPTED, null,
				"the thread was interrupted while it asked for key '" + key + "'; the work was not run", cause);
	}

	// The last attempt has died or is of an earlier firing, so this call is the next one.
	private static boolean follows(Acquisition.NotYet notYet, int attempt, LockRequest request) {
		RunRecord last = notYet.last();
		boolean reportOnly = last.status() == Status.IN_DOUBT && request.skipInDoubt() && request.unless() == null;
		return !reportOnly && attempt <= last.attempt() && request.attempts().follow(last, notYet.remaining());
	}

	private Answer answer(Acquisition acquisition, String nonce, Validity sent, Question question, boolean askedAgain) {
		if (!(acquisition instanceof Acquisition.Granted granted)) {
			return new Answer(acquisition, null, askedAgain);
		}
		if (this.provider.expires() && sent.remaining(this.time) <= 0) {
			giveBack(question.key(), nonce);
			throw new MutexException(question.key(),
					"the " + this.provider.name() + " store granted key '" + question.key()
							+ "' too late to be of use: the answer took longer than the lease of " + question.ttl()
							+ " allows; the work was not run");
		}
		Grant grant = new Grant(question.key(), nonce, granted.token(), question.ttl(), question.request().permits());
		return new Answer(acquisition, Turn.first(grant, granted.firstToken(), sent), askedAgain);
	}

	/**
	 * Frees what the store may have granted. If this fails too, it expires.
	 * @param key the key
	 * @param nonce the nonce of the request
	 */
	void giveBack(String key, String nonce) {
		this.background.execute(() -> {
			try {
				this.provider.release(key, nonce, false);
				this.line.released(key);
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

}
