package io.mutex.file;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the state files. Reading needs no lock, since a state file is replaced
 * as a whole; writing is for the process that holds the lock file.
 */
final class StateStore {

	private static final int READ_ATTEMPTS = 3;

	private final Durability durability;

	StateStore(Durability durability) {
		this.durability = durability;
	}

	/**
	 * The state of a key.
	 * @param files the files of the key
	 * @param key the key
	 * @return the state, or {@code null} if nothing was ever stored
	 * @throws IOException if the state cannot be read, or is damaged
	 */
	@Nullable StoredState read(KeyFiles files, String key) throws IOException {
		StoredState state = read(files.state());
		if (state != null && !state.key().equals(key)) {
			throw new IOException(damage(files.state(), "it belongs to the key '" + state.key() + "'"));
		}
		return state;
	}

	@Nullable StoredState read(Path path) throws IOException {
		byte[] content = content(path);
		try {
			return (content != null) ? StateText.parse(content) : null;
		}
		catch (IOException ex) {
			throw new IOException(damage(path, ex.getMessage()), ex);
		}
	}

	/**
	 * The stored run of a unit.
	 * @param files the files of the key
	 * @param state the state of the key
	 * @param unit the unit
	 * @return the run, or {@code null} if there is none
	 * @throws IOException if it cannot be read, or is damaged
	 */
	@Nullable RunRow run(KeyFiles files, @Nullable StoredState state, @Nullable String unit) throws IOException {
		if (state == null || unit == null) {
			return null;
		}
		RunRow run = state.run(unit);
		return (run == null && state.older()) ? readRun(files.run(unit)) : run;
	}

	/**
	 * All stored runs of a key.
	 * @param files the files of the key
	 * @param state the state of the key
	 * @param limit how many of the newest suffice
	 * @return the runs, in no order
	 * @throws IOException if one cannot be read, or is damaged
	 */
	List<RunRow> runs(KeyFiles files, StoredState state, int limit) throws IOException {
		List<RunRow> runs = new ArrayList<>(state.runs());
		if (!state.older() || limit <= runs.size()) {
			return runs;
		}
		try (DirectoryStream<Path> older = Files.newDirectoryStream(files.directory(),
				files.base() + KeyFiles.RUN_INFIX + "*")) {
			for (Path path : older) {
				RunRow run = readRun(path);
				if (run != null && state.run(run.unit()) == null) {
					runs.add(run);
				}
			}
		}
		return runs;
	}

	/**
	 * Replaces the state of a key. It is on the disk when this returns.
	 * @param files the files of the key
	 * @param state the new state
	 * @throws IOException if it may not be there
	 */
	void write(KeyFiles files, StoredState state) throws IOException {
		for (RunRow run : state.overflow()) {
			replace(files, files.run(run.unit()), StateText.format(state.key(), run));
		}
		replace(files, files.state(), StateText.format(state.withoutOverflow()));
	}

	/**
	 * Replaces the state of a key.
	 * @param files the files of the key
	 * @param key the key
	 * @param state the former state, or {@code null} if there is none
	 * @param lock the new row
	 * @param run a run to add, or {@code null}
	 * @param sharers those who hold the key together
	 * @throws IOException if it may not be on the disk
	 */
	void write(KeyFiles files, String key, @Nullable StoredState state, LockRow lock, @Nullable RunRow run,
			List<SharedHolder> sharers) throws IOException {
		StoredState changed = ((state != null) ? state.withLock(lock) : StoredState.of(key, lock)).withSharers(sharers);
		write(files, (run != null) ? changed.withRun(run) : changed);
	}

	/**
	 * Removes the run of a unit that stands beside the state. It is gone for good with
	 * the next state that is written.
	 * @param files the files of the key
	 * @param unit the unit
	 * @throws IOException if it may still be there
	 */
	void forget(KeyFiles files, String unit) throws IOException {
		Files.deleteIfExists(files.run(unit));
	}

	/**
	 * Removes the state of a key of which nothing is remembered. Should it come back
	 * after a power failure, it is removed again.
	 * @param files the files of the key
	 * @throws IOException if it may still be there
	 */
	void forget(KeyFiles files) throws IOException {
		Files.deleteIfExists(files.next());
		Files.deleteIfExists(files.state());
	}

	private void replace(KeyFiles files, Path target, byte[] content) throws IOException {
		this.durability.replace(files.directory(), files.temporary(), target, content);
	}

	private static @Nullable RunRow readRun(Path path) throws IOException {
		byte[] content = content(path);
		try {
			return (content != null) ? StateText.parseRun(content) : null;
		}
		catch (IOException ex) {
			throw new IOException(damage(path, ex.getMessage()), ex);
		}
	}

	// a stream and no channel: an interrupt does not close it
	private static byte @Nullable [] content(Path path) throws IOException {
		for (int attempt = 1;; attempt++) {
			try (FileInputStream in = new FileInputStream(path.toFile())) {
				return in.readAllBytes();
			}
			catch (FileNotFoundException ex) {
				if (FileIdentity.of(path) == null) {
					return null;
				}
				if (attempt == READ_ATTEMPTS) {
					throw ex; // it is there, but cannot be opened
				}
			}
		}
	}

	private static String damage(Path path, @Nullable String reason) {
		return "the file " + path + " is damaged: " + reason + ". Restore it from a backup; or, once no process "
				+ "holds the key, delete it, which forgets runs that it recorded";
	}

}
