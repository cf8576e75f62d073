package io.mutex.file;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * The content of the state file of a key.
 *
 * @param key the key
 * @param lock the row of the key; a held one never expires
 * @param writer the process that wrote it, the holder if the row is held
 * @param runs the newest runs, the latest beginning first
 * @param older whether there are runs beside the state file
 */
record StoredState(String key, LockRow lock, ProcessIdentity writer, List<RunRow> runs, boolean older) {

	/**
	 * How many runs the state file keeps.
	 */
	static final int MAX_RUNS = 16;

	static StoredState of(String key, LockRow lock) {
		return new StoredState(key, lock, ProcessIdentity.CURRENT, List.of(), false);
	}

	@Nullable RunRow run(String unit) {
		return this.runs.stream().filter((run) -> run.unit().equals(unit)).findFirst().orElse(null);
	}

	StoredState withLock(LockRow lock) {
		return new StoredState(this.key, lock, ProcessIdentity.CURRENT, this.runs, this.older);
	}

	StoredState withRun(RunRow run) {
		List<RunRow> changed = new ArrayList<>(this.runs);
		changed.removeIf((row) -> row.unit().equals(run.unit()));
		changed.add(run);
		changed.sort(Comparator.comparingLong(RunRow::began).reversed());
		return new StoredState(this.key, this.lock, this.writer, List.copyOf(changed), this.older);
	}

	StoredState withoutRuns(Predicate<RunRow> filter, boolean older) {
		return new StoredState(this.key, this.lock, this.writer, this.runs.stream().filter(filter.negate()).toList(),
				older);
	}

	StoredState withoutRun(String unit) {
		return new StoredState(this.key, this.lock, this.writer,
				this.runs.stream().filter((run) -> !run.unit().equals(unit)).toList(), this.older);
	}

	/**
	 * The runs that have no place in the state file.
	 * @return the oldest runs, mostly none
	 */
	List<RunRow> overflow() {
		return this.runs.subList(Math.min(MAX_RUNS, this.runs.size()), this.runs.size());
	}

	StoredState withoutOverflow() {
		return overflow().isEmpty() ? this
				: new StoredState(this.key, this.lock, this.writer, this.runs.subList(0, MAX_RUNS), true);
	}

	static LockRow expiring(LockRow row, long expiresAt) {
		return new LockRow(row.version(), row.token(), row.nonce(), row.name(), row.owner(), row.unit(), row.attempt(),
				row.acquiredAt(), expiresAt, row.tombstones(), row.buriedAt(), row.keptUntil());
	}

}
