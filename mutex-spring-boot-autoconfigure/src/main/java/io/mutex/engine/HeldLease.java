package io.mutex.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LockProvider.Grant;
import io.mutex.StaleFencingTokenException;
import io.mutex.run.Attempts;
import org.jspecify.annotations.Nullable;

/**
 * A granted lease as this process sees it: held, then either lost or ended, each for
 * ever.
 */
final class HeldLease implements Lease {

	private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

	private final Grant grant;

	private final String name;

	private final @Nullable String unit;

	private final FencingToken token;

	private final TimeSource time;

	private final boolean expires;

	private final boolean askedAgain;

	private final Attempts attempts;

	private final int attempt;

	private final LeaseFences fences;

	private final long acquired;

	private final long maxHoldNanos;

	private final ReentrantLock guard = new ReentrantLock();

	private volatile Validity validity;

	private final NextRenewal nextRenewal = new NextRenewal();

	private final CompletableFuture<Boolean> lossTold = new CompletableFuture<>();

	private volatile @Nullable String lossReason;

	private volatile boolean ended;

	private @Nullable Thread worker;

	private @Nullable CompletionStage<?> stage;

	private boolean interrupted;

	private boolean abandoned;

	private volatile boolean begun;

	private volatile long began;

	private volatile @Nullable Long finished;

	private volatile @Nullable TransactionalRun transaction;

	HeldLease(Grant grant, String name, @Nullable String unit, TimeSource time, Validity validity, boolean expires,
			@Nullable Duration maxHold, boolean askedAgain, Attempts attempts, int attempt, Guards guards) {
		this.grant = grant;
		this.name = name;
		this.unit = unit;
		this.token = new FencingToken(grant.token());
		this.time = time;
		this.validity = validity;
		this.expires = expires;
		this.askedAgain = askedAgain;
		this.attempts = attempts;
		this.attempt = attempt;
		this.fences = new LeaseFences(guards);
		this.acquired = time.monotonicNanos();
		this.maxHoldNanos = (maxHold != null && maxHold.compareTo(LONGEST) < 0) ? maxHold.toNanos() : Long.MAX_VALUE;
	}

	@Override
	public String key() {
		return this.grant.key();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public FencingToken token() {
		return this.token;
	}

	@Override
	public String nonce() {
		return this.grant.nonce();
	}

	@Override
	public @Nullable String unit() {
		return this.unit;
	}

	@Override
	public boolean isValid() {
		return isHeld() && endedBy() == null;
	}

	@Override
	public @Nullable Duration remaining() {
		if (!isHeld()) {
			return Duration.ZERO;
		}
		return this.expires ? Duration.ofNanos(Math.max(0, this.validity.remaining(this.time))) : null;
	}

	// what comes after the commit that ended the lease is not a part of its work
	@Override
	public List<Fence> fences() {
		return isCommitted() ? List.of() : List.copyOf(this.fences.fences());
	}

	@Override
	public void refused(StaleFencingTokenException refusal) {
		this.fences.refused(this, refusal);
	}

	LeaseFences fenced() {
		return this.fences;
	}

	Grant grant() {
		return this.grant;
	}

	// the number of this attempt of the unit, 0 without a unit
	int attempt() {
		return this.attempt;
	}

	// how long after a failure now the next attempt may begin
	Duration retryDelay() {
		return this.attempts.delayAfter(this.attempt, Instant.ofEpochSecond(0, this.time.wallNanos()));
	}

	// whether another request for the same grant may still be under way
	boolean isAskedAgain() {
		return this.askedAgain;
	}

	@Override
	public Duration heldFor() {
		return Duration.ofNanos(endOfWork() - this.acquired);
	}

	// the time for which the body ran, or has run until now
	Duration ranFor() {
		return this.begun ? Duration.ofNanos(endOfWork() - this.began) : Duration.ZERO;
	}

	private long endOfWork() {
		Long end = this.finished;
		return (end != null) ? end : this.time.monotonicNanos();
	}

	// whether the body was entered
	boolean hasBegun() {
		return this.begun;
	}

	// the work has ended, whatever its settlement takes
	void finish() {
		this.finished = this.time.monotonicNanos();
	}

	// whether the lease is neither lost nor ended, as far as it has been noticed
	boolean isHeld() {
		return this.lossReason == null && !this.ended;
	}

	// what completes when the listeners have been told of the loss of the lease
	CompletableFuture<Boolean> lossTold() {
		return this.lossTold;
	}

	@Nullable String lossReason() {
		return this.lossReason;
	}

	/**
	 * What has ended the lease by the clocks, whether or not it has been noticed.
	 * @return the reason, or {@code null} if the lease is valid
	 */
	@Nullable String endedBy() {
		if (this.expires && this.validity.remaining(this.time) <= 0) {
			return "it could not be renewed before its deadline";
		}
		if (this.time.monotonicNanos() - this.acquired >= this.maxHoldNanos) {
			return "it was held longer than the longest hold allowed, " + Duration.ofNanos(this.maxHoldNanos);
		}
		return null;
	}

	// how long the lease may still be used to settle with the store
	long validityLeft() {
		return this.expires ? this.validity.remaining(this.time) : Long.MAX_VALUE;
	}

	// how long until the clocks end the lease, unless it is renewed
	long timeLeft() {
		return Math.min(validityLeft(), this.maxHoldNanos - (this.time.monotonicNanos() - this.acquired));
	}

	long sentAt() {
		return this.validity.sentMonotonic();
	}

	Validity renewalSentNow() {
		return Validity.sentNow(this.time, this.grant.ttl());
	}

	void renewed(Validity renewed) {
		this.validity = renewed;
		this.nextRenewal.alone(false);
	}

	NextRenewal nextRenewal() {
		return this.nextRenewal;
	}

	/**
	 * Names the thread that runs the body from now on.
	 * @return {@code false} if the lease is lost, so that the body must not begin
	 */
	boolean enter() {
		this.guard.lock();
		try {
			if (!isHeld()) {
				return false;
			}
			this.worker = Thread.currentThread();
			this.began = this.time.monotonicNanos();
			this.begun = true;
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	// ends the time in which a loss interrupts the thread, and takes back an interrupt
	// that a loss has caused
	boolean leave() {
		this.guard.lock();
		try {
			this.worker = null;
			boolean mine = this.interrupted && Thread.interrupted();
			this.interrupted = false;
			return mine;
		}
		finally {
			this.guard.unlock();
		}
	}

	// names the stage that is cancelled by a loss from now on
	boolean await(CompletionStage<?> stage) {
		this.guard.lock();
		try {
			this.stage = stage;
			return this.lossReason == null;
		}
		finally {
			this.guard.unlock();
		}
	}

	// what is left to cancel once the lease is lost
	@Nullable CompletionStage<?> stage() {
		this.guard.lock();
		try {
			return this.stage;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Makes the loss of the lease known, once.
	 * @param reason why it is lost
	 * @param interrupt whether to interrupt the thread that runs the body
	 * @return {@code false} if the lease was lost or ended before
	 */
	boolean lose(String reason, boolean interrupt) {
		this.guard.lock();
		try {
			if (!isHeld()) {
				return false;
			}
			this.lossReason = reason;
			Thread running = this.worker;
			if (interrupt && running != null) {
				// an interrupt that somebody else has sent before stays theirs
				this.interrupted = !running.isInterrupted();
				running.interrupt();
			}
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Makes the lease lost without anything being sent to the store for it again.
	 * @param reason why it is lost
	 * @param interrupt whether to interrupt the thread that runs the body
	 * @return {@code false} if the lease was lost or ended before
	 */
	boolean abandon(String reason, boolean interrupt) {
		this.guard.lock();
		try {
			this.abandoned = true;
		}
		finally {
			this.guard.unlock();
		}
		return lose(reason, interrupt);
	}

	boolean isAbandoned() {
		this.guard.lock();
		try {
			return this.abandoned;
		}
		finally {
			this.guard.unlock();
		}
	}

	// ends the lease, so that it cannot be lost any more
	boolean end() {
		this.guard.lock();
		try {
			if (this.lossReason != null) {
				return false;
			}
			this.ended = true;
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	// takes back the end of a lease that was not told to the store
	boolean resume() {
		this.guard.lock();
		try {
			boolean resumed = this.ended && this.lossReason == null;
			this.ended = false;
			return resumed;
		}
		finally {
			this.guard.unlock();
		}
	}

	@Nullable TransactionalRun transaction() {
		return this.transaction;
	}

	boolean isCommitted() {
		TransactionalRun run = this.transaction;
		return run != null && run.state() == TransactionalRun.State.COMMITTED;
	}

	void transaction(TransactionalRun transaction) {
		this.transaction = transaction;
	}

}
