package io.mutex.file;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.file.JvmLocks.HeldFile;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import org.jspecify.annotations.Nullable;

/**
 * Grants keys: to one holder, who locks the whole lock file, or to several, who lock a
 * byte each. To be used inside the gate of the file.
 */
final class FileAcquirer {

	private final StateStore store;

	private final JvmLocks locks;

	private final KernelLocks kernel;

	private final LongSupplier now;

	FileAcquirer(StateStore store, JvmLocks locks, KernelLocks kernel, LongSupplier now) {
		this.store = store;
		this.locks = locks;
		this.kernel = kernel;
		this.now = now;
	}

	/**
	 * Decides a request.
	 * @param request the request
	 * @param files the files of the key
	 * @param identity the identity of the lock file
	 * @return the answer, or {@code null} if the lock file was replaced meanwhile
	 * @throws IOException if the files cannot be read or written
	 */
	@Nullable Acquisition acquire(AcquireRequest request, KeyFiles files, FileIdentity identity) throws IOException {
		NextHolder next = NextHolder.read(files, now());
		Acquisition answer = (next != null && next.excludes(request)) ? refuse(request, files, identity, next)
				: grant(request, files, identity);
		if (answer != null) {
			NextHolder.update(files, request, answer, now());
		}
		return answer;
	}

	// without a lock: others who wait their turn must not be in the way of the next
	// holder
	private Acquisition refuse(AcquireRequest request, KeyFiles files, FileIdentity identity, NextHolder next)
			throws IOException {
		StoredState state = this.store.read(files, request.key());
		Acquisition answer = answer(request, files, identity, state);
		boolean held = state != null && state.isHeldAlone() && state.writer().isAlive();
		return (answer instanceof Acquisition.Held && !held)
				? new Acquisition.Held(null, null, Micros.toDuration(Math.max(0, next.until() - now()))) : answer;
	}

	private @Nullable Acquisition grant(AcquireRequest request, KeyFiles files, FileIdentity identity)
			throws IOException {
		HeldFile held = this.locks.held(identity.text());
		if (held != null && !(held.isShared() && request.isShared())) {
			return answer(request, files, identity, this.store.read(files, request.key()));
		}
		// another process also locks the file for a moment to clean up or to look
		Patience patience = new Patience(Patience.BRIEF);
		StoredState state;
		do {
			Attempt attempt = request.isShared() ? tryShare(request, files, identity)
					: tryTake(request, files, identity);
			if (attempt != null) {
				return attempt.answer();
			}
			state = this.store.read(files, request.key());
		}
		while (!isHeld(state, request) && patience.pause());
		return answer(request, files, identity, state);
	}

	private static boolean isHeld(@Nullable StoredState state, AcquireRequest request) {
		return state != null && (state.isHeldAlone() || (!request.isShared() && state.livingSharer() != null));
	}

	private @Nullable Attempt tryTake(AcquireRequest request, KeyFiles files, FileIdentity identity)
			throws IOException {
		LockFile file = LockFile.tryLock(this.locks, identity.text(), files.lock());
		return (file != null) ? new Attempt(take(request, files, identity, file)) : null;
	}

	private @Nullable Acquisition take(AcquireRequest request, KeyFiles files, FileIdentity identity, LockFile file)
			throws IOException {
		boolean kept = false;
		try {
			if (!identity.equals(FileIdentity.of(files.lock()))) {
				return null;
			}
			StoredState state = this.store.read(files, request.key());
			String unit = (request.unit() != null) ? request.unit().id() : null;
			Transition<Acquisition> transition = StoreProtocol.acquire(Rows.buried(state, now()), List.of(),
					this.store.run(files, state, unit), unreserved(request), now());
			LockRow granted = transition.lock();
			if (granted != null) {
				this.kernel.learn(identity);
				this.store.write(files, request.key(), state, StoredState.expiring(granted, LockRow.NEVER),
						transition.run(), List.of());
				file.keep(granted.nonce(), granted.token(), files.grantId(granted.nonce()));
				kept = true;
			}
			return transition.answer();
		}
		finally {
			if (!kept) {
				file.free();
			}
		}
	}

	private @Nullable Attempt tryShare(AcquireRequest request, KeyFiles files, FileIdentity identity)
			throws IOException {
		try (StateSection section = StateSection.tryEnter(this.locks, identity.text(), files.lock())) {
			return (section != null) ? new Attempt(share(request, files, identity, section)) : null;
		}
	}

	private @Nullable Acquisition share(AcquireRequest request, KeyFiles files, FileIdentity identity,
			StateSection section) throws IOException {
		if (!identity.equals(FileIdentity.of(files.lock()))) {
			return null;
		}
		StoredState state = this.store.read(files, request.key());
		List<SharedHolder> living = section.living(state);
		Transition<Acquisition> transition = StoreProtocol.acquire(Rows.shared(state, living),
				Rows.sharers(state, living), null, unreserved(request), now());
		if (transition.answer() instanceof Acquisition.Held held) {
			return new Acquisition.Held(held.holder(), null, null);
		}
		LockRow row = transition.lock();
		if (row == null || transition.shared() == null) {
			return transition.answer();
		}
		LockRow granted = transition.shared().get(transition.shared().size() - 1);
		FileLock lock = section.take(request.permits());
		if (lock == null) {
			return new Acquisition.Held(null, null, null); // the state does not know all
		}
		boolean kept = false;
		try {
			this.kernel.learn(identity);
			List<SharedHolder> holders = new ArrayList<>(living);
			holders.add(SharedHolder.of(lock.position(), granted));
			this.store.write(files, request.key(), state, StoredState.expiring(row, 0), transition.run(), holders);
			section.keep(lock, granted.nonce(), granted.token(), files.grantId(granted.nonce()));
			kept = true;
			return transition.answer();
		}
		finally {
			if (!kept) {
				JvmLocks.release(lock);
			}
		}
	}

	// the place of the next holder is not in the row
	private static AcquireRequest unreserved(AcquireRequest request) {
		return new AcquireRequest(request.key(), request.name(), request.nonce(), request.owner(), request.ttl(),
				request.floor(), request.unit(), request.attempt(), request.tokens(), request.permits(), null);
	}

	private Acquisition answer(AcquireRequest request, KeyFiles files, FileIdentity identity,
			@Nullable StoredState state) throws IOException {
		HeldFile own = this.locks.held(identity.text(), files.grantId(request.nonce()));
		if (own != null && own.isShared()) {
			return granted(own);
		}
		if (own == null && state != null && state.sharer(request.nonce()) != null) {
			return new Acquisition.Stale();
		}
		String unit = (request.unit() != null) ? request.unit().id() : null;
		RunRow run = this.store.run(files, state, unit);
		return Rows.answer(state, run, request, now(), own != null);
	}

	private static Acquisition granted(HeldFile own) {
		return new Acquisition.Granted(own.token(), own.token(), 0, null);
	}

	private long now() {
		return this.now.getAsLong();
	}

	/**
	 * What an attempt to lock the file has led to.
	 *
	 * @param answer the answer, or {@code null} if the file was replaced
	 */
	private record Attempt(@Nullable Acquisition answer) {

	}

}
