package io.mutex.lab;

import java.util.List;
import java.util.function.LongConsumer;

import io.mutex.Lease;

/**
 * Guarded data: a number for each key, and the log of its writes in the same guarded
 * write.
 */
public interface Ledger {

	/**
	 * Reads the number and writes the next one.
	 * @param lease the lease whose token the storage checks
	 * @param reading told the next number between the reading and the writing
	 */
	void add(Lease lease, LongConsumer reading);

	/**
	 * Writes what {@link #add} would have written, as one does who has been paused after
	 * a look at the clock: the storage is asked although the lease is lost.
	 * @param lease the lease
	 * @param number the number that {@link #add} was about to write
	 */
	default void force(Lease lease, long number) {
		throw new UnsupportedOperationException("Nothing is known of lost leases");
	}

	/**
	 * The log of the writes.
	 * @param key whose
	 * @return the entries in the order of the storage
	 */
	List<Entry> entries(String key);

}
