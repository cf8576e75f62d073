package io.mutex.file;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

import io.mutex.HeldLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The held locks as the state files show them. No lock file is opened: that would free
 * the lock.
 */
final class HeldFiles {

	private static final Logger logger = LoggerFactory.getLogger(HeldFiles.class);

	private final Path directory;

	private final String namespace;

	private final StateStore store;

	private final JvmLocks locks;

	HeldFiles(Path directory, String namespace, StateStore store, JvmLocks locks) {
		this.directory = directory;
		this.namespace = namespace;
		this.store = store;
		this.locks = locks;
	}

	List<HeldLock> all(int limit, long now) throws IOException {
		List<HeldLock> held = new ArrayList<>();
		try (DirectoryStream<Path> states = Files.newDirectoryStream(this.directory, "*" + KeyFiles.STATE_SUFFIX)) {
			for (Path path : states) {
				try {
					held.addAll(held(this.store.read(path), now));
				}
				catch (IOException ex) {
					logger.warn("a lock is not listed; provider=file", ex);
				}
			}
		}
		catch (NoSuchFileException ex) {
			return List.of();
		}
		return held.stream().sorted(Comparator.comparing(HeldLock::key)).limit(limit).toList();
	}

	Optional<HeldLock> one(KeyFiles files, String key, long now) throws IOException {
		return held(this.store.read(files, key), now).stream().findFirst();
	}

	private List<HeldLock> held(@Nullable StoredState state, long now) {
		if (state == null) {
			return List.of();
		}
		if (state.isHeldAlone()) {
			return isHeld(state, state.writer(), state.lock().nonce())
					? state.lock().toHeldLock(state.key(), now).stream().toList() : List.of();
		}
		return state.sharers()
			.stream()
			.filter((sharer) -> isHeld(state, sharer.process(), sharer.nonce()))
			.flatMap((sharer) -> sharer.toHeldLock(state.key(), now).stream())
			.toList();
	}

	private boolean isHeld(StoredState state, ProcessIdentity process, String nonce) {
		return process.isCurrent() ? isHeldHere(state, nonce) : process.isAlive();
	}

	private boolean isHeldHere(StoredState state, String nonce) {
		KeyFiles files = KeyFiles.of(this.directory, this.namespace, state.key());
		return this.locks.identityOf(files.grantId(nonce)) != null;
	}

}
