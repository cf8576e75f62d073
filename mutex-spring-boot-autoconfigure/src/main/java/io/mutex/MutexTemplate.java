package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * Locking for code without annotations, with the same semantics.
 * <p>
 * A call for a key that the same call path holds already re-enters the lease: the body
 * runs with the same token, and its end releases nothing. If the body returns a
 * {@link java.util.concurrent.CompletionStage}, the key is held until the stage
 * completes; the returned stage completes after the release. Inside a transaction of the
 * caller, the key is held until the transaction ends, whatever else the body returns.
 */
public interface MutexTemplate {

	/**
	 * Runs the body while the key is held.
	 * @param <T> the type of the result
	 * @param <E> the type of exception the body may throw
	 * @param request the key and how to ask for it, without a unit
	 * @param body the protected work
	 * @return what the body returned
	 * @throws E if the body throws it
	 * @throws LockNotAcquiredException if the key is held until the waiting is over, the
	 * thread is interrupted while it waits, or the application shuts down; the body has
	 * not run
	 * @throws LeaseLostException if the lease was lost while the body ran and the body
	 * did not throw, or if the same call path holds a lease of the key that is lost
	 * @throws MutexException if the store could not be asked; the body has not run
	 */
	<T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LeaseCallback<T, E> body) throws E;

	/**
	 * Runs the body unless its unit has succeeded already or is being run, and records
	 * its success.
	 * @param <T> the type of the value
	 * @param <E> the type of exception the body may throw
	 * @param request the key, the unit and how to ask for it
	 * @param body the protected work
	 * @return how the call ended
	 * @throws E if the body throws it; the unit stays open
	 * @throws LockNotAcquiredException if the thread is interrupted while it waits, or
	 * the application shuts down; the body has not run
	 * @throws LeaseLostException if the lease was lost while the body ran and the body
	 * did not throw; the unit stays open
	 * @throws MutexException if the store could not be asked, or the unit begins too far
	 * in the future; the body has not run
	 */
	<T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request,
			LeaseCallback<T, E> body) throws E;

}
