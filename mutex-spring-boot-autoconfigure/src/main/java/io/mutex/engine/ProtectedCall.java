package io.mutex.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

import io.mutex.Acquisition.Granted;
import io.mutex.LeaseCallback;
import io.mutex.LeaseLostException;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.RunResult;
import io.mutex.engine.Settler.Ending;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Runs a body under a lease that was granted, and ends the lease with the body: when it
 * returns or throws, or when the stage that it returned completes.
 */
final class ProtectedCall {

	private final Settler settler;

	private final RunReporter reporter;

	private final EngineThreads threads;

	ProtectedCall(Settler settler, RunReporter reporter, EngineThreads threads) {
		this.settler = settler;
		this.reporter = reporter;
		this.threads = threads;
	}

	<T extends @Nullable Object, E extends Throwable> T execute(HeldLease lease, LeaseCallback<T, E> body) throws E {
		return run(lease, body, (ending, failure) -> {
		}).value();
	}

	<T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request, HeldLease lease,
			Granted granted, LeaseCallback<T, E> body) throws E {
		if (request.unless() != null && isDone(request, request.unless(), lease)) {
			return doneByCondition(request, lease);
		}
		if (request.skipInDoubt() && granted.doubt() != null) {
			this.settler.released(lease, false);
			return this.reporter.inDoubt(request, granted.doubt());
		}
		Returned<T> returned = run(lease, body,
				(ending, failure) -> this.reporter.ran(request, lease.attempt(), ending.outcome(), reason(ending),
						lease.term().ranFor(), (failure != null) ? failure : ending.failure()));
		Ending ending = returned.ending();
		boolean provisional = lease.transaction() != null && lease.transaction().isProvisionallyDone();
		return new RunResult<>(ending.outcome(), returned.value(), null, null,
				provisional ? "run: the work succeeded, if its transaction is committed" : reason(ending));
	}

	private <T extends @Nullable Object> RunResult<T> doneByCondition(LockRequest request, HeldLease lease) {
		boolean deferred = defer(lease, (ending, failure) -> {
			if (ending.outcome() == Outcome.EXECUTED) {
				this.reporter.doneByCondition(request);
			}
			else {
				this.reporter.ran(request, 0, ending.outcome(), reason(ending), Duration.ZERO,
						(failure != null) ? failure : ending.failure());
			}
		});
		if (deferred) {
			return new RunResult<>(Outcome.SKIPPED_DONE, null, null, null,
					"skipped: the condition says that it is done, if this transaction is committed");
		}
		Ending ending = this.settler.succeeded(lease);
		if (ending.failure() != null) {
			this.reporter.ran(request, lease.attempt(), ending.outcome(), reason(ending), Duration.ZERO,
					ending.failure());
			throw ending.failure();
		}
		return this.reporter.doneByCondition(request);
	}

	private boolean isDone(LockRequest request, BooleanSupplier unless, HeldLease lease) {
		try (Leases.Scope scope = Leases.bind(lease)) {
			return unless.getAsBoolean();
		}
		catch (RuntimeException | Error ex) {
			this.settler.released(lease, false);
			this.reporter.ran(request, 0, Outcome.FAILED, "the condition of 'unless' failed", Duration.ZERO, ex);
			throw ex;
		}
	}

	@SuppressWarnings("unchecked")
	private <T extends @Nullable Object, E extends Throwable> Returned<T> run(HeldLease lease, LeaseCallback<T, E> body,
			EndListener listener) throws E {
		if (!this.settler.enter(lease)) {
			throw lostBefore(lease, listener);
		}
		T value;
		try {
			value = call(lease, body);
			if (value instanceof CompletionStage<?> stage) {
				return new Returned<>((T) stageOf(lease, stage, listener), new Ending(Outcome.EXECUTED, null));
			}
		}
		catch (Throwable ex) {
			lease.term().finish();
			if (defer(lease, listener)) {
				throw ex;
			}
			Ending ending = this.settler.failed(lease, ex);
			if (ending.failure() != null) {
				ex.addSuppressed(ending.failure());
			}
			listener.ended(ending, ex);
			throw ex;
		}
		lease.term().finish();
		if (defer(lease, listener)) {
			return new Returned<>(value, new Ending(Outcome.EXECUTED, null));
		}
		Ending ending = this.settler.succeeded(lease);
		listener.ended(ending, null);
		if (ending.outcome() == Outcome.LEASE_LOST && ending.failure() != null) {
			throw ending.failure();
		}
		return new Returned<>(value, ending);
	}

	// A transaction that the call has joined decides, when it ends.
	private boolean defer(HeldLease lease, EndListener listener) {
		TransactionalRun run = lease.transaction();
		if (run == null || !run.outlivesCall()) {
			return false;
		}
		run.settleWith(() -> {
			if (run.state() == TransactionalRun.State.RECORDED) {
				// the transaction may be open until this thread has left its end
				this.threads.store().execute(() -> settle(lease, run.failure(), listener));
			}
			else {
				settle(lease, run.failure(), listener);
			}
		});
		return true;
	}

	private void settle(HeldLease lease, @Nullable Throwable failure, EndListener listener) {
		Ending ending = (failure != null) ? this.settler.failed(lease, failure) : this.settler.succeeded(lease);
		listener.ended(ending, failure);
	}

	private MutexException lostBefore(HeldLease lease, EndListener listener) {
		Ending ending = this.settler.released(lease, false);
		MutexException failure = (ending.failure() != null) ? ending.failure()
				: new LeaseLostException(lease.key(), lease.token(), "it ended before the work began");
		listener.ended(new Ending(Outcome.LEASE_LOST, failure), failure);
		return failure;
	}

	private static <T extends @Nullable Object, E extends Throwable> T call(HeldLease lease, LeaseCallback<T, E> body)
			throws E {
		try (Leases.Scope scope = Leases.bind(lease)) {
			return body.run(lease);
		}
		finally {
			lease.leave();
		}
	}

	private CompletableFuture<@Nullable Object> stageOf(HeldLease lease, CompletionStage<?> stage,
			EndListener listener) {
		CompletableFuture<@Nullable Object> result = new CompletableFuture<>() {

			@Override
			public boolean cancel(boolean mayInterruptIfRunning) {
				boolean cancelled = super.cancel(mayInterruptIfRunning);
				if (cancelled) {
					Stages.cancel(stage);
				}
				return cancelled;
			}

		};
		stage.whenComplete((value, failure) -> {
			lease.term().finish();
			TransactionalRun run = lease.transaction();
			if (run != null && run.outlivesCall()) {
				Throwable thrown = (failure != null || lease.isValid()) ? failure : loss(lease);
				// what waits for the result may be what ends the transaction
				run.settleWith(() -> this.threads.store().execute(() -> settle(lease, failure, listener)));
				this.threads.application().execute(() -> complete(result, value, thrown));
			}
			else {
				this.threads.store().execute(() -> end(lease, value, failure, result, listener));
			}
		});
		if (!lease.await(stage)) {
			Stages.cancel(stage);
		}
		return result;
	}

	private void end(HeldLease lease, @Nullable Object value, @Nullable Throwable failure,
			CompletableFuture<@Nullable Object> result, EndListener listener) {
		Ending ending = (failure != null) ? this.settler.failed(lease, failure) : this.settler.succeeded(lease);
		if (failure != null && ending.failure() != null) {
			failure.addSuppressed(ending.failure());
		}
		Throwable thrown = (failure == null && ending.outcome() == Outcome.LEASE_LOST) ? ending.failure() : failure;
		// what depends on the result runs where it is completed, and may wait for other
		// leases to end
		this.threads.application().execute(() -> {
			listener.ended(ending, failure);
			complete(result, value, thrown);
		});
	}

	private static LeaseLostException loss(HeldLease lease) {
		String reason = (lease.lossReason() != null) ? lease.lossReason() : lease.term().endedBy();
		return new LeaseLostException(lease.key(), lease.token(), (reason != null) ? reason : "it is no longer valid");
	}

	private static void complete(CompletableFuture<@Nullable Object> result, @Nullable Object value,
			@Nullable Throwable failure) {
		if (failure != null) {
			result.completeExceptionally(failure);
		}
		else {
			result.complete(value);
		}
	}

	private static String reason(Ending ending) {
		MutexException failure = ending.failure();
		if (failure != null) {
			return String.valueOf(failure.getMessage());
		}
		return (ending.outcome() == Outcome.FAILED) ? "run: the work failed" : "run: the work succeeded";
	}

	/**
	 * Told how the work and its lease ended.
	 */
	@FunctionalInterface
	private interface EndListener {

		void ended(Ending ending, @Nullable Throwable failure);

	}

	private record Returned<T extends @Nullable Object>(T value, Ending ending) {

	}

}
