package io.mutex.file;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;

import io.mutex.HeldLock;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.LockProvider.Settlement;
import io.mutex.Reopening;
import io.mutex.file.JvmLocks.HeldFile;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import org.jspecify.annotations.Nullable;

/**
 * Stores what happens to a key after its grant, and frees it. To be used inside the gate
 * of the file.
 */
final class FileReleaser {

	private final StateStore store;

	private final JvmLocks locks;

	private final LongSupplier now;

	FileReleaser(StateStore store, JvmLocks locks, LongSupplier now) {
		this.store = store;
		this.locks = locks;
		this.now = now;
	}

	/**
	 * Stores the end of a run and frees the key for it.
	 * @param key the key
	 * @param files its files
	 * @param held the holder that ends
	 * @param unit the unit that ends, or {@code null} for a release
	 * @param decision what is to be stored
	 * @return what was done
	 * @throws IOException if it may not be stored; the key is held on
	 */
	Settlement settle(String key, KeyFiles files, HeldFile held, @Nullable String unit, Decision decision)
			throws IOException {
		if (held.isShared()) {
			return (unit != null) ? Settlement.NOT_OWNER : releaseShared(key, files, held);
		}
		StoredState state = this.store.read(files, key);
		Transition<Settlement> transition = decision.over(Rows.held(state), this.store.run(files, state, unit));
		if (transition.lock() != null) {
			this.store.write(files, key, state, transition.lock(), transition.run(), List.of());
		}
		else if (transition.answer() == Settlement.SETTLED && state != null) {
			this.store.write(files, state); // again: it may not have reached the disk
		}
		if (transition.answer() == Settlement.SETTLED) {
			this.locks.drop(held);
		}
		return transition.answer();
	}

	// a state that cannot be written for so long names a dead holder from now on, whom
	// the next holder removes
	private Settlement releaseShared(String key, KeyFiles files, HeldFile held) throws IOException {
		try (StateSection section = enter(key, files, held.identity(), Patience.LONG)) {
			StoredState state = (section != null) ? this.store.read(files, key) : null;
			LockRow row = Rows.buried(Rows.abandoned(state), held.nonce(), now());
			if (state != null && row != null) {
				this.store.write(files, state.withLock(row).withoutSharer(held.nonce()));
			}
			this.locks.drop(held);
			return Settlement.SETTLED;
		}
	}

	/**
	 * Makes a late acquisition of a nonce that holds nothing stale.
	 * @param key the key
	 * @param files its files
	 * @param identity the identity of the lock file
	 * @param nonce the nonce
	 * @param decision what is to be stored
	 * @return what was done
	 * @throws IOException if it may not be stored
	 */
	Settlement releaseUnheld(String key, KeyFiles files, FileIdentity identity, String nonce, Decision decision)
			throws IOException {
		HeldFile other = this.locks.held(identity.text());
		if (other != null && !other.isShared()) {
			StoredState state = this.store.read(files, key);
			return bury(key, files, state, decision.over(Rows.held(state), null));
		}
		try (StateSection section = enter(key, files, identity.text(), Patience.BRIEF)) {
			if (section == null) {
				return Settlement.NOT_OWNER;
			}
			StoredState state = this.store.read(files, key);
			SharedHolder sharer = (state != null) ? state.sharer(nonce) : null;
			if (sharer != null && section.living(state).contains(sharer)) {
				return Settlement.NOT_OWNER;
			}
			StoredState changed = (state != null) ? state.withoutSharer(nonce) : null;
			Settlement answer = bury(key, files, changed, decision.over(Rows.abandoned(changed), null));
			return (sharer != null) ? Settlement.SETTLED : answer;
		}
	}

	private Settlement bury(String key, KeyFiles files, @Nullable StoredState state, Transition<Settlement> transition)
			throws IOException {
		if (transition.lock() != null) {
			this.store.write(files, key, state, transition.lock(), transition.run(),
					(state != null) ? state.sharers() : List.of());
		}
		return transition.answer();
	}

	/**
	 * Frees a key if all who hold it are of this JVM: nobody can free a lock of another
	 * process.
	 * @param key the key
	 * @param files its files
	 * @param identity the identity of the lock file
	 * @return what was done
	 * @throws IOException if it may not be stored; the key is held on
	 */
	ForcedRelease force(String key, KeyFiles files, FileIdentity identity) throws IOException {
		HeldFile held = this.locks.held(identity.text());
		if (held != null && !held.isShared()) {
			StoredState state = this.store.read(files, key);
			return force(key, files, state, Rows.held(state), List.of(), List.of(held));
		}
		try (StateSection section = enter(key, files, identity.text(), Patience.BRIEF)) {
			StoredState state = this.store.read(files, key);
			if (section == null) {
				return new ForcedRelease(ForcedRelease.Result.REFUSED, holder(key, state), null);
			}
			List<SharedHolder> living = section.living(state);
			for (SharedHolder sharer : living) {
				if (!section.isOwn(sharer, files)) {
					return new ForcedRelease(ForcedRelease.Result.REFUSED, sharer.toHeldLock(key, now()).orElse(null),
							null);
				}
			}
			return force(key, files, state, Rows.shared(state, living), Rows.sharers(state, living),
					this.locks.all(identity.text()));
		}
	}

	private ForcedRelease force(String key, KeyFiles files, @Nullable StoredState state, @Nullable LockRow row,
			List<LockRow> sharers, List<HeldFile> held) throws IOException {
		String nonce = UUID.randomUUID().toString().replace("-", "");
		Transition<ForcedRelease> transition = StoreProtocol.forceRelease(key, row, sharers, nonce, now());
		if (transition.lock() != null) {
			this.store.write(files, key, state, transition.lock(), transition.run(), List.of());
		}
		held.forEach(this.locks::drop);
		return transition.answer();
	}

	/**
	 * Forgets how a unit ended.
	 * @param key the key
	 * @param files its files
	 * @param identity the identity of the lock file
	 * @param unit the unit
	 * @return what was done
	 * @throws IOException if it may not be stored
	 */
	Reopening reopen(String key, KeyFiles files, FileIdentity identity, String unit) throws IOException {
		HeldFile held = this.locks.held(identity.text());
		if (held != null && !held.isShared()) {
			StoredState state = this.store.read(files, key);
			return reopen(key, files, state, Rows.held(state), unit);
		}
		try (StateSection section = enter(key, files, identity.text(), Patience.BRIEF)) {
			StoredState state = this.store.read(files, key);
			return (section != null) ? reopen(key, files, state, Rows.abandoned(state), unit)
					: new Reopening(Reopening.Result.HELD, null, holder(key, state));
		}
	}

	private Reopening reopen(String key, KeyFiles files, @Nullable StoredState state, @Nullable LockRow row,
			String unit) throws IOException {
		RunRow run = this.store.run(files, state, unit);
		Transition<Reopening> transition = StoreProtocol.reopen(key, row, run, unit, now());
		if (transition.lock() != null && state != null) {
			this.store.forget(files, unit);
			this.store.write(files, state.withoutRun(unit).withLock(transition.lock()));
		}
		return transition.answer();
	}

	private @Nullable StateSection enter(String key, KeyFiles files, String identity, Duration limit)
			throws IOException {
		Patience patience = new Patience(limit);
		StateSection section = StateSection.tryEnter(this.locks, identity, files.lock());
		while (section == null && !isHeldAlone(this.store.read(files, key)) && patience.pause()) {
			section = StateSection.tryEnter(this.locks, identity, files.lock());
		}
		return section;
	}

	private static boolean isHeldAlone(@Nullable StoredState state) {
		return state != null && state.isHeldAlone();
	}

	private @Nullable HeldLock holder(String key, @Nullable StoredState state) {
		return (state != null) ? state.lock().toHeldLock(key, now()).orElse(null) : null;
	}

	private long now() {
		return this.now.getAsLong();
	}

	/**
	 * What is to be stored.
	 */
	@FunctionalInterface
	interface Decision {

		Transition<Settlement> over(@Nullable LockRow lock, @Nullable RunRow run);

	}

}
