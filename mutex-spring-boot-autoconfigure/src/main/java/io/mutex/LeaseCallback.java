package io.mutex;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs under a lease.
 *
 * @param <T> the type of the result
 * @param <E> the type of exception it may throw
 */
@FunctionalInterface
public interface LeaseCallback<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Does the work.
	 * @param lease the lease it runs under
	 * @return the result
	 * @throws E if the work fails
	 */
	T run(Lease lease) throws E;

}
