package io.mutex.engine;

import io.mutex.LeaseCallback;
import io.mutex.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * What a protected call takes part in where it is made, such as a transaction of its
 * caller.
 */
public interface RunSurroundings {

	/**
	 * The request to make.
	 * @param engine the engine
	 * @param request what the caller asks for
	 * @return the request, or one that has more conditions
	 */
	LockRequest request(LockEngine engine, LockRequest request);

	/**
	 * The body to run. Asked for after the request, on the same thread.
	 * @param <T> the type of the value
	 * @param <E> what the body throws
	 * @param engine the engine
	 * @param request what the caller asks for
	 * @param body the body of the caller
	 * @return the body, or one that runs it
	 * @throws io.mutex.MutexException if the call must not run here
	 */
	<T extends @Nullable Object, E extends Throwable> LeaseCallback<T, E> body(LockEngine engine, LockRequest request,
			LeaseCallback<T, E> body);

	/**
	 * The work to do under a lock without records.
	 * @param <T> the type of the value
	 * @param <E> what the body throws
	 * @param engine the engine
	 * @param request what the caller asks for
	 * @param body the body of the caller
	 * @return the body, or one that runs it
	 * @throws io.mutex.MutexException if the call must not run here
	 */
	<T extends @Nullable Object, E extends Throwable> LeaseCallback<T, E> work(LockEngine engine, LockRequest request,
			LeaseCallback<T, E> body);

}
