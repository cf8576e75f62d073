package io.mutex;

import java.time.Duration;
import java.util.Collection;

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
	 * @throws IllegalArgumentException if the request has a unit, or several permits and
	 * fencing other than {@link FencingPolicy#NONE}
	 * @throws MutexException if the store could not be asked, or the same call path
	 * shares the key that is asked for exclusively; the body has not run
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

	/**
	 * Runs the body while several keys are held, as {@link #executeAll} does, each
	 * exclusively and with the configured lease.
	 * @param <T> the type of the result
	 * @param <E> the type of exception the body may throw
	 * @param keys the keys, at least one; their order does not matter, and one that is
	 * given twice counts once
	 * @param waitFor how long to wait for all of them together; zero asks once for each
	 * @param body the protected work
	 * @return what the body returned
	 * @throws E if the body throws it
	 */
	default <T extends @Nullable Object, E extends Throwable> T acquireAll(Collection<String> keys, Duration waitFor,
			LeasesCallback<T, E> body) throws E {
		return executeAll(keys.stream().map(LockRequest::of).toList(), waitFor, body);
	}

	/**
	 * Runs the body while several keys are held: all of them, or it does not run. They
	 * are taken in the order of the keys, character by character, which is the same for
	 * all callers, so that no two of them wait for each other; and released in the
	 * opposite order.
	 * @param <T> the type of the result
	 * @param <E> the type of exception the body may throw
	 * @param requests the keys and how to ask for each, at least one, without units; the
	 * time that each of them would wait does not matter
	 * @param waitFor how long to wait for all of them together; zero asks once for each
	 * @param body the protected work
	 * @return what the body returned
	 * @throws E if the body throws it
	 * @throws IllegalArgumentException if no key is given, or one twice in different ways
	 * @throws LockNotAcquiredException if one of the keys is held until the waiting is
	 * over, the thread is interrupted while it waits, or the application shuts down; the
	 * others are free again, and the body has not run
	 * @throws LeaseLostException if one of the leases was lost while the body ran and the
	 * body did not throw
	 * @throws MutexException if the store could not be asked; the body has not run
	 */
	default <T extends @Nullable Object, E extends Throwable> T executeAll(Collection<LockRequest> requests,
			Duration waitFor, LeasesCallback<T, E> body) throws E {
		return SeveralKeys.of(this, requests, waitFor).execute(body);
	}

}
