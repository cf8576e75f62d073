package io.mutex;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs under several leases.
 *
 * @param <T> the type of the result
 * @param <E> the type of exception it may throw
 */
@FunctionalInterface
public interface LeasesCallback<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Does the work.
	 * @param leases the leases it runs under, ordered by key
	 * @return the result
	 * @throws E if the work fails
	 */
	T run(List<Lease> leases) throws E;

}
