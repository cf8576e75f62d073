package io.mutex.jdbc;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * What one statement saw of a key.
 *
 * @param now the store's time in microseconds
 * @param lock the row of the key, or {@code null}
 * @param run the row of the unit that was asked for, or {@code null}
 * @param written whether the same statement stored the grant that follows from it
 */
record Snapshot(long now, @Nullable LockRow lock, @Nullable RunRow run, boolean written) {

}
