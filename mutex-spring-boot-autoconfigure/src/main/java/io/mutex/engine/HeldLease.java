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
import io.mutex.LeaseLostException;
import io.mutex.LockProvider.Grant;
import io.mutex.StaleFencingTokenException;
import io.mutex.run.Attempts;
import org.jspecify.annotations.Nullable;

/**
 * A granted lease as this process sees it: held, then either lost or ended, each for
 * ever.
 */
final class HeldLease implements Lease {

	private final Turn turn;

	private final String name;

	private final @Nullable String unit;

	private final FencingToken token;

	private final LeaseTerm term;

	private final String thread = Thread.currentThread().getName();

	private final boolean askedAgain;

	private final Attempts attempts;

	private final int attempt;

	private final LeaseFences fences;

	private final ReentrantLock guard = new ReentrantLock();

	private final NextRenewal nextRenewal = new NextRenewal();

	private final CompletableFuture<Boolean> lossTold = new CompletableFuture<>();

	private volatile @Nullable String lossReason;

	private volatile boolean ended;

	private @Nullable Thread worker;

	private @Nullable CompletionStage<?> stage;

	private boolean interrupted;

	private boolean abandoned;

	private boolean pinned;

	private boolean handedOn;

	private volatile @Nullable TransactionalRun transaction;

	HeldLease(Turn turn, String name, @Nullable String unit, LeaseTerm term, boolean askedAgain, Attempts attempts,
			int attempt, Guards guards) {
		this.turn = turn;
		this.name = name;
		this.unit = unit;
		this.token = new FencingToken(turn.token());
		this.term = term;
		this.askedAgain = askedAgain;
		this.attempts = attempts;
		this.attempt = attempt;
		this.fences = new LeaseFences(guards);
	}

	@Override
	public String key() {
		return grant().key();
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
		return grant().nonce();
	}

	@Override
	public @Nullable String unit() {
		return this.unit;
	}

	@Override
	public boolean isHandedOver() {
		return this.turn.handedOver();
	}

	@Override
	public boolean isValid() {
		return isHeld() && this.term.endedBy() == null;
	}

	@Override
	public @Nullable Duration remaining() {
		return isHeld() ? this.term.remaining() : Duration.ZERO;
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
		return this.turn.grant();
	}

	LeaseTerm term() {
		return this.term;
	}

	// the thread that asked for it
	String thread() {
		return this.thread;
	}

	// the number of this attempt of the unit, 0 without a unit
	int attempt() {
		return this.attempt;
	}

	// how long after a failure now the next attempt may begin
	Duration retryDelay() {
		return this.attempts.delayAfter(this.attempt, Instant.ofEpochSecond(0, this.term.time().wallNanos()));
	}

	// whether another request for the same grant may still be under way
	boolean isAskedAgain() {
		return this.askedAgain;
	}

	@Override
	public Duration heldFor() {
		return this.term.heldFor();
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

	void renewed(Validity renewed) {
		this.term.renewed(renewed);
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
			this.term.begin();
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

	/**
	 * The token by which a guard knows this lease alone. A guard that compares with the
	 * store can only know the grant's, so no other turn follows this one then.
	 * @return the token
	 * @throws LeaseLostException if the lease has ended
	 */
	FencingToken pin() {
		if (this.turn.isLast()) {
			return this.token;
		}
		this.guard.lock();
		try {
			if (this.ended) {
				throw new LeaseLostException(key(), this.token, "its work has ended");
			}
			this.pinned = true;
			return new FencingToken(grant().token());
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The turn that may follow this lease now, which has ended.
	 * @return the turn, or {@code null} if the grant goes back to the store
	 */
	@Nullable Turn next() {
		this.guard.lock();
		try {
			boolean may = this.ended && !this.pinned && !this.askedAgain && this.transaction == null
					&& this.turn.mayBeFollowed(this.term.time(), this.term.validity());
			return may ? this.turn.next(this.term.validity()) : null;
		}
		finally {
			this.guard.unlock();
		}
	}

	// another holder of this process has got the next turn
	void handOn() {
		this.handedOn = true;
	}

	boolean isHandedOn() {
		return this.handedOn;
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
