package io.mutex.file;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Retention;
import io.mutex.protocol.Retention.Newest;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes runs and states that need not be kept, key by key in the order of the file
 * names, each under the lock of its key. A key that is held is passed over. Lock files
 * stay.
 */
final class Purge {

	private static final Logger logger = LoggerFactory.getLogger(Purge.class);

	private final Path directory;

	private final Gate gate;

	private final StateStore store;

	private final JvmLocks locks;

	private final LongSupplier now;

	Purge(Path directory, Gate gate, StateStore store, JvmLocks locks, LongSupplier now) {
		this.directory = directory;
		this.gate = gate;
		this.store = store;
		this.locks = locks;
		this.now = now;
	}

	Purged purge(Duration idle, @Nullable String after, int limit) throws IOException {
		int removed = 0;
		for (String name : states(after)) {
			removed += purge(name, idle);
			if (removed >= limit) {
				return new Purged(removed, name);
			}
		}
		return new Purged(removed, null);
	}

	// a file that is damaged is for the next user of its key to report
	private int purge(String name, Duration idle) {
		try {
			StoredState seen = this.store.read(this.directory.resolve(name));
			return (seen != null && mayRemove(seen, idle))
					? this.gate.enter(seen.key(), (files, identity) -> purge(seen.key(), idle, files, identity)) : 0;
		}
		catch (IOException | MutexException ex) {
			logger.debug("cannot clean up {}; provider=file", name, ex);
			return 0;
		}
	}

	private Set<String> states(@Nullable String after) throws IOException {
		Set<String> names = new TreeSet<>();
		if (!Files.isDirectory(this.directory)) {
			return names;
		}
		try (DirectoryStream<Path> files = Files.newDirectoryStream(this.directory, "*" + KeyFiles.STATE_SUFFIX)) {
			for (Path file : files) {
				String name = file.getFileName().toString();
				if (after == null || name.compareTo(after) > 0) {
					names.add(name);
				}
			}
		}
		return names;
	}

	// without the lock of the key, so that most keys need not be locked
	private boolean mayRemove(StoredState state, Duration idle) {
		LockRow released = Rows.abandoned(state);
		return state.older() || state.runs().stream().anyMatch((run) -> run.keptUntil() <= this.now.getAsLong())
				|| (state.runs().isEmpty() && released != null
						&& Retention.isSpent(released, state.key(), idle, this.now.getAsLong()));
	}

	private int purge(String key, Duration idle, KeyFiles files, FileIdentity identity) throws IOException {
		LockFile file = (this.locks.held(identity.text()) != null) ? null
				: LockFile.tryLock(this.locks, identity.text(), files.lock());
		if (file == null) {
			return 0;
		}
		try {
			StoredState state = this.store.read(files, key);
			return (state != null) ? purge(state, idle, files) : 0;
		}
		finally {
			file.free();
		}
	}

	private int purge(StoredState state, Duration idle, KeyFiles files) throws IOException {
		long now = this.now.getAsLong();
		LockRow lock = Rows.abandoned(state);
		List<RunRow> runs = this.store.runs(files, state, Integer.MAX_VALUE);
		Newest newest = Newest.of(runs);
		List<RunRow> spent = new ArrayList<>(runs);
		spent.removeIf((run) -> !Retention.isSpent(run, newest, lock, state.key(), now));
		for (RunRow run : spent) {
			this.store.forget(files, run.unit());
		}
		if (spent.size() == runs.size() && lock != null && Retention.isSpent(lock, state.key(), idle, now)) {
			this.store.forget(files);
			return spent.size() + 1;
		}
		if (!spent.isEmpty()) {
			StoredState changed = state.withoutRuns(spent::contains, state.older());
			boolean older = runs.size() - spent.size() > changed.runs().size();
			this.store.write(files, changed.withoutRuns((run) -> false, older));
		}
		return spent.size();
	}

}
