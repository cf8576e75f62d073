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
 * @param sharers those who hold the key at the same time, if they live; none if the row
 * is held
 */
record StoredState(String key, LockRow lock, ProcessIdentity writer, List<RunRow> runs, boolean older,
		List<SharedHolder> sharers) {

	/**
	 * How many runs the state file keeps.
	 */
	static final int MAX_RUNS = 16;

	static StoredState of(String key, LockRow lock) {
		return new StoredState(key, lock, ProcessIdentity.CURRENT, List.of(), false, List.of());
	}

	@Nullable RunRow run(String unit) {
		return this.runs.stream().filter((run) -> run.unit().equals(unit)).findFirst().orElse(null);
	}

	/**
	 * Whether the row says that one holds the key alone.
	 * @return {@code true} also if that holder has died
	 */
	boolean isHeldAlone() {
		return this.lock.expiresAt() != 0;
	}

	/**
	 * One of several holders whose process lives.
	 * @return a holder, or {@code null} if there is none
	 */
	@Nullable SharedHolder livingSharer() {
		return this.sharers.stream().filter((sharer) -> sharer.process().isAlive()).findFirst().orElse(null);
	}

	@Nullable SharedHolder sharer(String nonce) {
		return this.sharers.stream().filter((sharer) -> sharer.nonce().equals(nonce)).findFirst().orElse(null);
	}

	StoredState withSharers(List<SharedHolder> sharers) {
		return new StoredState(this.key, this.lock, this.writer, this.runs, this.older, List.copyOf(sharers));
	}

	StoredState withoutSharer(String nonce) {
		return withSharers(this.sharers.stream().filter((sharer) -> !sharer.nonce().equals(nonce)).toList());
	}

	StoredState withLock(LockRow lock) {
		return new StoredState(this.key, lock, ProcessIdentity.CURRENT, this.runs, this.older, this.sharers);
	}

	StoredState withRun(RunRow run) {
		List<RunRow> changed = new ArrayList<>(this.runs);
		changed.removeIf((row) -> row.unit().equals(run.unit()));
		changed.add(run);
		changed.sort(Comparator.comparingLong(RunRow::began).reversed());
		return new StoredState(this.key, this.lock, this.writer, List.copyOf(changed), this.older, this.sharers);
	}

	StoredState withoutRuns(Predicate<RunRow> filter, boolean older) {
		return new StoredState(this.key, this.lock, this.writer, this.runs.stream().filter(filter.negate()).toList(),
				older, this.sharers);
	}

	StoredState withoutRun(String unit) {
		return new StoredState(this.key, this.lock, this.writer,
				this.runs.stream().filter((run) -> !run.unit().equals(unit)).toList(), this.older, this.sharers);
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
				: new StoredState(this.key, this.lock, this.writer, this.runs.subList(0, MAX_RUNS), true, this.sharers);
	}

	static LockRow expiring(LockRow row, long expiresAt) {
		return new LockRow(row.version(), row.token(), row.nonce(), row.name(), row.owner(), row.unit(), row.attempt(),
				row.acquiredAt(), expiresAt, row.tombstones(), row.buriedAt(), row.keptUntil());
	}

}
