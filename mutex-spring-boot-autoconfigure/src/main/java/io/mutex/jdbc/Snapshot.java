package io.mutex.jdbc;

import java.util.List;
import java.util.Map;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * What one statement saw of a key.
 *
 * @param now the store's time in microseconds
 * @param lock the row of the key, or {@code null}
 * @param slots the rows of those who hold or held the key together, by their slots
 * @param run the row of the unit that was asked for, or {@code null}
 * @param written whether the same statement stored the grant that follows from it
 */
record Snapshot(long now, @Nullable LockRow lock, Map<Integer, LockRow> slots, @Nullable RunRow run, boolean written) {

	// of a statement that does not look at the slots
	Snapshot(long now, @Nullable LockRow lock, @Nullable RunRow run, boolean written) {
		this(now, lock, Map.of(), run, written);
	}

	List<LockRow> shared() {
		return List.copyOf(this.slots.values());
	}

	boolean isShared() {
		return this.lock != null && this.lock.sharedUntil() > this.now;
	}

	// the version of the row, or 0 if there is none
	long version() {
		return (this.lock != null) ? this.lock.version() : 0;
	}

}
