package io.mutex.engine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.mutex.Lease;
import io.mutex.LeaseLostException;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import io.mutex.TransactionalStore;
import org.jspecify.annotations.Nullable;

/**
 * A run whose success is recorded inside the application's transaction. Whoever manages
 * the transaction says how far it has come; the engine settles by that when the work has
 * ended.
 */
public final class TransactionalRun {

	private final HeldLease lease;

	private final LockProvider provider;

	private final LeaseKeeper keeper;

	private final boolean joined;

	private volatile State state = State.OPEN;

	private @Nullable Throwable failure;

	private boolean running;

	private final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();

	TransactionalRun(HeldLease lease, LockProvider provider, LeaseKeeper keeper, boolean joined) {
		this.lease = lease;
		this.provider = provider;
		this.keeper = keeper;
		this.joined = joined;
	}

	/**
	 * The lease of the run.
	 * @return the lease
	 */
	public Lease lease() {
		return this.lease;
	}

	State state() {
		return this.state;
	}

	// what the body threw at its last attempt
	@Nullable Throwable failure() {
		return this.failure;
	}

	/**
	 * Whether the lease is held until a transaction ends that goes on after the call.
	 * @return {@code false} if it ends with the call or with the stage that it returned
	 */
	public boolean outlivesCall() {
		return this.joined && this.state != State.WITHDRAWN;
	}

	/**
	 * Whether the body has succeeded, in a transaction that has not ended.
	 * @return {@code true} if the run is done as soon as the transaction is committed
	 */
	public boolean isProvisionallyDone() {
		return this.joined && this.state == State.RETURNED;
	}

	// settles once the transaction has ended
	void settleWith(Runnable settlement) {
		CompletionStage<@Nullable Void> end = this.end;
		end.thenRun(settlement);
	}

	/**
	 * A transaction that the body is going to run in has begun.
	 * @throws LeaseLostException if the lease is no longer valid
	 * @throws MutexException if an earlier transaction of the run may have been committed
	 */
	public void begun() {
		if (this.state == State.RECORDED && !isStillHeld()) {
			throw new MutexException(this.lease.key(), "an earlier transaction of the run of key '" + this.lease.key()
					+ "' may have been committed; the work was not run again");
		}
		this.keeper.loseIfOverdue(this.lease);
		this.lease.assertValid();
		this.state = State.OPEN;
		this.running = true;
	}

	/**
	 * Whether the body is being run.
	 * @return {@code false} once it has returned or thrown
	 */
	public boolean isRunning() {
		return this.running;
	}

	// A renewal succeeds only if the transaction that would have released the key has
	// ended without a commit.
	private boolean isStillHeld() {
		Validity sent = Validity.sentNow(this.lease.term().time(), this.lease.grant().ttl());
		if (!this.provider.renew(List.of(this.lease.grant())).equals(List.of(Renewal.RENEWED))) {
			return false;
		}
		this.lease.renewed(sent);
		resume();
		return true;
	}

	/**
	 * The body has returned normally: from now on the commit of its transaction makes the
	 * run a success.
	 */
	public void returned() {
		this.running = false;
		this.failure = null;
		this.state = State.RETURNED;
	}

	/**
	 * The body has failed, or its work was rolled back to a savepoint.
	 * @param failure what it threw
	 */
	public void failed(Throwable failure) {
		this.running = false;
		this.failure = failure;
		this.state = State.OPEN;
	}

	/**
	 * The body has returned what is not its end, so that the transaction decides nothing.
	 */
	public void withdrawn() {
		this.running = false;
		this.state = State.WITHDRAWN;
	}

	/**
	 * Whether the commit of the transaction has to record the run.
	 * @return {@code false} if the body threw, or has no unit
	 */
	public boolean isToBeRecorded() {
		return this.state == State.RETURNED && this.lease.unit() != null;
	}

	/**
	 * Records the run, as the last statement before the commit. From here on the lease is
	 * neither renewed nor lost.
	 * @param store the store, in the database of the transaction
	 * @param connection the connection of the transaction
	 * @throws LeaseLostException if the lease is lost; the transaction must be rolled
	 * back
	 * @throws MutexException if it could not be recorded; the transaction must be rolled
	 * back
	 */
	public void record(TransactionalStore store, Connection connection) {
		String key = this.lease.key();
		String unit = this.lease.unit();
		if (unit == null) {
			throw new IllegalStateException("the run of key '" + key + "' has no unit");
		}
		this.keeper.loseIfOverdue(this.lease);
		Duration left = Duration.ofNanos(Math.max(1, this.lease.term().timeLeft()));
		if (!this.lease.isHeld() || !this.lease.end()) {
			throw lost(this.lease.lossReason());
		}
		this.state = State.RECORDING;
		boolean recorded;
		try {
			recorded = store.complete(connection, this.lease.grant(), unit, left);
		}
		catch (SQLException ex) {
			throw new MutexException(key, "unit '" + unit + "' of key '" + key + "' could not be recorded in its "
					+ "transaction, which is rolled back: " + ex.getMessage(), ex);
		}
		if (!recorded) {
			this.state = State.REFUSED;
			throw lost("the store named another holder before the commit");
		}
		this.state = State.RECORDED;
	}

	/**
	 * Whether the store was asked to record the run, whatever it answered.
	 * @return {@code false} if the lease was lost before
	 */
	public boolean isRecordAsked() {
		return this.state == State.RECORDING || this.state == State.REFUSED || this.state == State.RECORDED;
	}

	private LeaseLostException lost(@Nullable String reason) {
		return new LeaseLostException(this.lease.key(), this.lease.token(),
				((reason != null) ? reason : "it is no longer valid") + ", so the transaction is rolled back");
	}

	/**
	 * The transaction has ended.
	 * @param committed whether it is known to be committed
	 */
	public void ended(boolean committed) {
		this.state = committed ? this.state.committed() : this.state.notCommitted();
		if (!committed && this.state == State.ROLLED_BACK) {
			resume();
		}
		this.end.complete(null);
	}

	private void resume() {
		if (this.lease.resume()) {
			this.keeper.resumed(this.lease);
		}
	}

	/**
	 * How far the transaction of a run has come.
	 */
	enum State {

		/** The body has not returned, or threw. */
		OPEN,

		/** The body has returned normally, and the commit has not begun. */
		RETURNED,

		/** The record is being written. */
		RECORDING,

		/** The store refused the record, since another holds the key. */
		REFUSED,

		/** The record is written, and whether it is committed is not known. */
		RECORDED,

		/** The record is committed. */
		COMMITTED,

		/** The work is committed, and nobody has asked for its record before. */
		UNRECORDED,

		/** The work has returned, and its transaction was rolled back. */
		ROLLED_BACK,

		/** No transaction decides. */
		WITHDRAWN;

		State committed() {
			return switch (this) {
				case RECORDED -> COMMITTED;
				case RETURNED -> UNRECORDED;
				default -> this;
			};
		}

		// one that fails in its commit may be committed all the same
		State notCommitted() {
			return switch (this) {
				case RETURNED, RECORDING -> ROLLED_BACK;
				default -> this;
			};
		}

	}

}
