package io.mutex.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.mutex.LeaseLostException;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends leases: records and releases, each repeated with the same nonce while its answer
 * is missing and the lease still valid.
 */
final class Settler {

	private static final int MAX_ERROR = 500;

	/** How long a caller waits at most for a store that does not confirm. */
	private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/** Among how many runs of a key one that has just ended is looked for. */
	private static final int NEWEST = 50;

	private static final Logger logger = LoggerFactory.getLogger(Settler.class);

	private final LockProvider provider;

	private final TimeSource time;

	private final LeaseKeeper keeper;

	private final WaitingLine line;

	private final EngineListeners listeners;

	Settler(LockProvider provider, TimeSource time, LeaseKeeper keeper, WaitingLine line, EngineListeners listeners) {
		this.provider = provider;
		this.time = time;
		this.keeper = keeper;
		this.line = line;
		this.listeners = listeners;
	}

	/**
	 * Lets a body begin, if its lease is still valid.
	 * @param lease the lease
	 * @return whether the body is entered by this thread, which has to leave it
	 */
	boolean enter(HeldLease lease) {
		return !this.keeper.loseIfOverdue(lease) && lease.enter();
	}

	/**
	 * Ends a lease whose body returned.
	 * @param lease the lease
	 * @return {@link Outcome#EXECUTED}, {@link Outcome#LEASE_LOST} or
	 * {@link Outcome#STORE_ERROR}
	 */
	Ending succeeded(HeldLease lease) {
		TransactionalRun transaction = lease.transaction();
		if (transaction != null) {
			return switch (transaction.state()) {
				case COMMITTED -> committed(lease);
				case UNRECORDED, WITHDRAWN -> completed(lease);
				default -> rolledBack(lease);
			};
		}
		return completed(lease);
	}

	private Ending completed(HeldLease lease) {
		String unit = lease.unit();
		if (unit == null) {
			return released(lease, true);
		}
		return end(lease, () -> this.provider.complete(lease.grant(), unit), Outcome.EXECUTED,
				"the work is done but not recorded: unit '" + unit + "' may be run again, and " + heldUntil());
	}

	// a transaction may be rolled back without an exception
	private Ending rolledBack(HeldLease lease) {
		MutexException failure = new MutexException(lease.key(), "the work returned, but its transaction was rolled "
				+ "back: unit '" + lease.unit() + "' of key '" + lease.key() + "' stays open");
		Ending ending = failed(lease, failure);
		return (ending.failure() == null && ending.outcome() == Outcome.FAILED) ? new Ending(Outcome.FAILED, failure)
				: ending;
	}

	// the commit of the transaction has stored the end of this lease
	private Ending committed(HeldLease lease) {
		return end(lease, () -> Settlement.SETTLED, Outcome.EXECUTED, "");
	}

	/**
	 * Ends a lease whose body threw.
	 * @param lease the lease
	 * @param failure what it threw
	 * @return {@link Outcome#FAILED}, {@link Outcome#LEASE_LOST} or
	 * {@link Outcome#STORE_ERROR}
	 */
	Ending failed(HeldLease lease, Throwable failure) {
		TransactionalRun transaction = lease.transaction();
		if (transaction != null) {
			switch (transaction.state()) {
				case COMMITTED -> {
					return committed(lease);
				}
				case REFUSED -> {
					return end(lease, () -> Settlement.NOT_OWNER, Outcome.FAILED, "");
				}
				case RECORDED -> {
					return resolved(lease, failure);
				}
				default -> {
				}
			}
		}
		return notCommitted(lease, failure);
	}

	private Ending notCommitted(HeldLease lease, Throwable failure) {
		String unit = lease.unit();
		Ending ending;
		if (unit == null || !lease.term().hasBegun()) {
			ending = released(lease, lease.term().hasBegun());
		}
		else {
			String error = describe(failure);
			ending = end(lease, () -> this.provider.fail(lease.grant(), unit, error, lease.retryDelay()),
					Outcome.FAILED, "the failure of unit '" + unit + "' is not recorded, and " + heldUntil());
		}
		return (ending.outcome() == Outcome.EXECUTED) ? new Ending(Outcome.FAILED, ending.failure()) : ending;
	}

	// A commit that failed may have come through. To fail the run waits behind a
	// transaction that is still open, and succeeds only if it was rolled back.
	private Ending resolved(HeldLease lease, Throwable failure) {
		String unit = String.valueOf(lease.unit());
		AtomicBoolean recorded = new AtomicBoolean();
		Ending ending = end(lease, () -> {
			Settlement answer = this.provider.fail(lease.grant(), unit, describe(failure), lease.retryDelay());
			recorded.set(answer == Settlement.NOT_OWNER && isRecorded(lease, unit));
			return recorded.get() ? Settlement.SETTLED : answer;
		}, Outcome.FAILED,
				"whether the transaction of unit '" + unit + "' was committed is not known, and " + heldUntil());
		return (recorded.get() && ending.outcome() == Outcome.FAILED) ? new Ending(Outcome.EXECUTED, null) : ending;
	}

	private boolean isRecorded(HeldLease lease, String unit) {
		return this.provider.runs(lease.key(), NEWEST)
			.stream()
			.anyMatch((run) -> run.status() == Status.DONE && run.token() == lease.grant().token()
					&& unit.equals(run.unit()));
	}

	/**
	 * Releases a key without an outcome, or hands it to one that waits in this process.
	 * @param lease the lease
	 * @param began whether its body began
	 * @return {@link Outcome#EXECUTED} or {@link Outcome#LEASE_LOST}
	 */
	Ending released(HeldLease lease, boolean began) {
		Ending ending = end(lease, () -> this.provider.release(lease.key(), lease.nonce(), began), Outcome.EXECUTED,
				heldUntil());
		return (ending.outcome() == Outcome.STORE_ERROR) ? new Ending(Outcome.EXECUTED, ending.failure()) : ending;
	}

	// asked before the store is: it may have freed the key though its answer was lost
	private boolean isHandedOn(HeldLease lease) {
		Turn next = lease.next();
		if (next != null && this.line.handOver(lease.key(), next, this.time.monotonicNanos())) {
			lease.handOn();
		}
		return lease.isHandedOn();
	}

	private Ending end(HeldLease lease, Supplier<Settlement> settlement, Outcome settled, String consequence) {
		try (DeferredInterrupt interrupts = new DeferredInterrupt()) {
			try {
				this.keeper.loseIfOverdue(lease);
				if (!lease.end()) {
					free(lease);
					lease.lossTold().completeOnTimeout(false, MAX_NANOS, TimeUnit.NANOSECONDS).join();
					return lost(lease);
				}
				if (isHandedOn(lease)) {
					return new Ending(settled, null);
				}
				return settle(lease, settlement, settled, consequence, interrupts);
			}
			finally {
				if (lease.isAskedAgain()) {
					free(lease); // again, so that a late request for it grants nothing
				}
				this.keeper.forget(lease);
				if (!lease.isHandedOn()) {
					this.line.released(lease.key());
				}
				this.listeners.ended(lease, lease.heldFor());
			}
		}
	}

	private Ending settle(HeldLease lease, Supplier<Settlement> settlement, Outcome settled, String consequence,
			DeferredInterrupt interrupts) {
		long giveUp = this.time.monotonicNanos() + MAX_NANOS;
		long pause = FIRST_PAUSE;
		for (int asked = 1;; asked++) {
			try {
				return answer(lease, settlement.get(), settled, asked > 1);
			}
			catch (RuntimeException | Error ex) {
				interrupts.take();
				boolean again = timeLeft(lease, giveUp) > pause;
				if (again) {
					interrupts.pause(pause);
					// the whole process may have been paused for longer than that
					again = timeLeft(lease, giveUp) > 0;
				}
				if (!again) {
					return unconfirmed(lease, asked, consequence, ex);
				}
				pause = Math.min(MAX_PAUSE, pause * 2);
			}
		}
	}

	private long timeLeft(HeldLease lease, long giveUp) {
		long left = giveUp - this.time.monotonicNanos();
		TransactionalRun transaction = lease.transaction();
		// a commit is asked for until the database ends the transaction
		return (transaction != null && transaction.state() == TransactionalRun.State.RECORDED) ? left
				: Math.min(left, lease.term().validityLeft());
	}

	private Ending unconfirmed(HeldLease lease, int asked, String consequence, Throwable cause) {
		if (!this.provider.expires()) {
			free(lease); // or nobody would before this process ends
		}
		logger.error("The {} store did not confirm the end of key={} token={} after {} tries: {}", this.provider.name(),
				lease.key(), lease.token(), asked, consequence, cause);
		return new Ending(Outcome.STORE_ERROR, new MutexException(lease.key(), "the " + this.provider.name()
				+ " store did not confirm the end of key '" + lease.key() + "': " + consequence, cause));
	}

	private Ending answer(HeldLease lease, Settlement answer, Outcome settled, boolean repeated) {
		if (answer == Settlement.SETTLED || (repeated && lease.unit() == null)) {
			return new Ending(settled, null);
		}
		String reason = "the store named another holder when the work ended";
		logger.warn("Lost lease: key={} token={} provider={} after {}: {}", lease.key(), lease.token(),
				this.provider.name(), lease.heldFor(), reason);
		this.listeners.lost(lease, reason);
		return new Ending(Outcome.LEASE_LOST, new LeaseLostException(lease.key(), lease.token(), reason));
	}

	private String heldUntil() {
		return "the key may stay held until "
				+ (this.provider.expires() ? "the lease has expired" : "this process has ended");
	}

	private Ending lost(HeldLease lease) {
		String reason = lease.lossReason();
		return new Ending(Outcome.LEASE_LOST, new LeaseLostException(lease.key(), lease.token(),
				(reason != null) ? reason : "it is no longer valid"));
	}

	// Nobody has to wait for a lease that has ended here; one that shutdown gave up
	// expires.
	private void free(HeldLease lease) {
		if (lease.isAbandoned() && this.provider.expires()) {
			return;
		}
		try {
			this.provider.release(lease.key(), lease.nonce(), lease.term().hasBegun());
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Could not free key={} token={} provider={}", lease.key(), lease.token(), this.provider.name(),
					ex);
		}
	}

	private static String describe(Throwable failure) {
		String text = failure.getClass().getName();
		try {
			text += (failure.getMessage() != null) ? ": " + failure.getMessage() : "";
		}
		catch (RuntimeException | Error ex) {
			logger.debug("A failure cannot say what it is: {}", text, ex);
		}
		String line = text.replaceAll("\\p{Cntrl}+", " ");
		return (line.length() <= MAX_ERROR) ? line : line.substring(0, MAX_ERROR);
	}

	/**
	 * How a lease ended.
	 *
	 * @param outcome the outcome
	 * @param failure what went wrong with the lease or the store, or {@code null}
	 */
	record Ending(Outcome outcome, @Nullable MutexException failure) {

	}

}
