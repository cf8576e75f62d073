package io.mutex.file;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.Reopening;
import io.mutex.file.JvmLocks.HeldFile;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps locks in files of a directory, for the processes of one host. The kernel frees a
 * lock with the process that holds it, so leases have no deadline.
 * <p>
 * Each key has a lock file, which is empty, never deleted and never opened twice in a
 * JVM, and a state file beside it, which only the holder of the lock replaces.
 */
public final class FileLockProvider implements LockProvider {

	/** How often and how long the name of a new holder is waited for. */
	private static final int HOLDER_ROUNDS = 5;

	private static final Logger logger = LoggerFactory.getLogger(FileLockProvider.class);

	private static final Duration LONGEST_RENEWAL_INTERVAL = Duration.ofMillis(500);

	private final LockDirectory directory;

	private final Clock clock;

	private final StateStore store;

	private final JvmLocks locks = JvmLocks.SHARED;

	private final Gate gate;

	private final KernelLocks kernel = new KernelLocks();

	private final HeldFiles listing;

	private final Purge purge;

	/**
	 * Creates a provider. The directory is created when it is first used or checked.
	 * @param directory the directory that the processes share
	 * @param namespace separates applications that share the directory
	 * @param allowNetwork whether a directory on a network file system is accepted
	 */
	public FileLockProvider(Path directory, String namespace, boolean allowNetwork) {
		this(new LockDirectory(directory, namespace, allowNetwork, NetworkFileSystems::typeOf), namespace,
				Clock.systemUTC(), new Durability());
	}

	FileLockProvider(LockDirectory directory, String namespace, Clock clock, Durability durability) {
		this.directory = directory;
		this.clock = clock;
		this.gate = new Gate(directory, namespace, this.locks);
		this.store = new StateStore(durability);
		this.listing = new HeldFiles(directory.path(), namespace, this.store, this.locks);
		this.purge = new Purge(directory.path(), this.gate, this.store, this.locks, this::now);
	}

	@Override
	public String name() {
		return "file";
	}

	@Override
	public boolean expires() {
		return false;
	}

	@Override
	public Duration renewalInterval(Duration ttl) {
		Duration third = ttl.dividedBy(3);
		return (third.compareTo(LONGEST_RENEWAL_INTERVAL) < 0) ? third : LONGEST_RENEWAL_INTERVAL;
	}

	@Override
	public Acquisition acquire(AcquireRequest request) {
		String unit = (request.unit() != null) ? request.unit().id() : null;
		return this.gate.enter(request.key(), (files, identity) -> {
			HeldFile held = this.locks.held(identity.text());
			if (held != null) {
				StoredState state = this.store.read(files, request.key());
				RunRow run = this.store.run(files, state, unit);
				return Rows.answer(state, run, request, now(), held.nonce().equals(request.nonce()));
			}
			StoredState state = null;
			// another process also locks the file for a moment to clean up or to look
			for (int round = 0; round < HOLDER_ROUNDS && !StateStore.isHeld(state); round++) {
				LockFile file = LockFile.tryLock(this.locks, identity.text(), files.lock());
				if (file != null) {
					return acquire(request, files, identity, file);
				}
				state = this.store.readHolder(files, request.key());
			}
			return Rows.answer(state, this.store.run(files, state, unit), request, now(), false);
		});
	}

	private @Nullable Acquisition acquire(AcquireRequest request, KeyFiles files, FileIdentity identity, LockFile file)
			throws IOException {
		boolean kept = false;
		try {
			if (!identity.equals(FileIdentity.of(files.lock()))) {
				return null;
			}
			StoredState state = this.store.read(files, request.key());
			String unit = (request.unit() != null) ? request.unit().id() : null;
			Transition<Acquisition> transition = StoreProtocol.acquire(Rows.abandoned(state),
					this.store.run(files, state, unit), request, now());
			LockRow granted = transition.lock();
			if (granted != null) {
				this.kernel.learn(identity);
				write(files, request.key(), state, StoredState.expiring(granted, LockRow.NEVER), transition.run());
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

	@Override
	public List<Renewal> renew(List<Grant> grants) {
		KernelLocks.View view = this.kernel.view();
		return grants.stream().map((grant) -> {
			try {
				return (isGranted(grant) && isIntact(grant.key(), grant.nonce(), view)) ? Renewal.RENEWED
						: Renewal.LOST;
			}
			catch (IOException ex) {
				logger.debug("cannot look after the lock; key={} provider=file", grant.key(), ex);
				return Renewal.BUSY;
			}
		}).toList();
	}

	private boolean isGranted(Grant grant) {
		String identity = this.locks.identityOf(this.gate.files(grant.key()).grantId(grant.nonce()));
		HeldFile held = (identity != null) ? this.locks.held(identity) : null;
		return held != null && held.nonce().equals(grant.nonce()) && held.token() == grant.token();
	}

	// a lock that the kernel no longer has, or whose file has been replaced, is forgotten
	private boolean isIntact(String key, String nonce, KernelLocks.View view) throws IOException {
		KeyFiles files = this.gate.files(key);
		return this.locks.ifHeld(files.grantId(nonce), (held) -> {
			FileIdentity current = FileIdentity.of(files.lock());
			if (current != null && current.text().equals(held.identity()) && held.lock().isValid()
					&& view.shows(current)) {
				return true;
			}
			this.locks.drop(held);
			logger.warn("the lock file {} was removed, or other code of this process opened and closed it: "
					+ "the lock is lost; key={} token={} provider=file", files.lock(), key, held.token());
			return false;
		});
	}

	private void drop(String key, String nonce) {
		this.gate.reading(key, () -> this.locks.ifHeld(this.gate.files(key).grantId(nonce), (held) -> {
			this.locks.drop(held);
			return true;
		}));
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		try {
			return settle(key, nonce, null, (lock, run) -> StoreProtocol.release(lock, nonce, began, now()));
		}
		catch (MutexException ex) {
			// the body has ended: what cannot be stored is found abandoned by the next
			// holder
			drop(key, nonce);
			throw ex;
		}
	}

	@Override
	public Settlement complete(Grant grant, String unit) {
		return settle(grant.key(), grant.nonce(), unit,
				(lock, run) -> StoreProtocol.complete(lock, run, grant, unit, now()));
	}

	@Override
	public Settlement fail(Grant grant, String unit, String error, Duration delay) {
		return settle(grant.key(), grant.nonce(), unit,
				(lock, run) -> StoreProtocol.fail(lock, run, grant, unit, now(), delay, error));
	}

	private Settlement settle(String key, String nonce, @Nullable String unit, Decision decision) {
		boolean owned = this.gate.reading(key, () -> isIntact(key, nonce, this.kernel.view()));
		return this.gate.enter(key, (files, identity) -> {
			HeldFile held = this.locks.held(identity.text());
			if (owned && held != null && held.nonce().equals(nonce)) {
				return settleHeld(key, files, held, unit, decision);
			}
			if (unit != null) {
				StoredState state = this.store.read(files, key);
				return decision.over(null, this.store.run(files, state, unit)).answer();
			}
			return releaseUnheld(key, files, identity, held, decision);
		});
	}

	private Settlement settleHeld(String key, KeyFiles files, HeldFile held, @Nullable String unit, Decision decision)
			throws IOException {
		StoredState state = this.store.read(files, key);
		Transition<Settlement> transition = decision.over(Rows.held(state), this.store.run(files, state, unit));
		if (transition.lock() != null) {
			write(files, key, state, transition.lock(), transition.run());
		}
		else if (transition.answer() == Settlement.SETTLED && state != null) {
			this.store.write(files, state); // again: it may not have reached the disk
		}
		if (transition.answer() == Settlement.SETTLED) {
			this.locks.drop(held);
		}
		return transition.answer();
	}

	private Settlement releaseUnheld(String key, KeyFiles files, FileIdentity identity, @Nullable HeldFile other,
			Decision decision) throws IOException {
		LockFile file = (other != null) ? null : LockFile.tryLock(this.locks, identity.text(), files.lock());
		if (other == null && file == null) {
			return Settlement.NOT_OWNER;
		}
		try {
			StoredState state = this.store.read(files, key);
			LockRow row = (other != null) ? Rows.held(state) : Rows.abandoned(state);
			Transition<Settlement> transition = decision.over(row, null);
			if (transition.lock() != null) {
				write(files, key, state, transition.lock(), transition.run());
			}
			return transition.answer();
		}
		finally {
			if (file != null) {
				file.free();
			}
		}
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		return this.gate.enter(key, (files, identity) -> {
			HeldFile held = this.locks.held(identity.text());
			if (held != null && isIntact(key, held.nonce(), this.kernel.view())) {
				return forceHeld(key, files, held);
			}
			LockFile file = LockFile.tryLock(this.locks, identity.text(), files.lock());
			if (file != null) {
				file.free();
				return new ForcedRelease(ForcedRelease.Result.NOT_HELD, null, null);
			}
			StoredState state = this.store.read(files, key);
			HeldLock holder = (state != null) ? state.lock().toHeldLock(key, now()).orElse(null) : null;
			return new ForcedRelease(ForcedRelease.Result.REFUSED, holder, null);
		});
	}

	private ForcedRelease forceHeld(String key, KeyFiles files, HeldFile held) throws IOException {
		StoredState state = this.store.read(files, key);
		String nonce = UUID.randomUUID().toString().replace("-", "");
		Transition<ForcedRelease> transition = StoreProtocol.forceRelease(key, Rows.held(state), nonce, now());
		if (transition.lock() != null) {
			write(files, key, state, transition.lock(), transition.run());
		}
		this.locks.drop(held);
		return transition.answer();
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return this.gate.enter(key, (files, identity) -> {
			HeldFile held = this.locks.held(identity.text());
			boolean own = held != null && isIntact(key, held.nonce(), this.kernel.view());
			LockFile file = own ? null : LockFile.tryLock(this.locks, identity.text(), files.lock());
			try {
				StoredState state = this.store.read(files, key);
				if (!own && file == null) {
					HeldLock holder = (state != null) ? state.lock().toHeldLock(key, now()).orElse(null) : null;
					return new Reopening(Reopening.Result.HELD, null, holder);
				}
				Transition<Reopening> transition = StoreProtocol.reopen(key,
						own ? Rows.held(state) : Rows.abandoned(state), this.store.run(files, state, unit), unit,
						now());
				if (transition.lock() != null && state != null) {
					this.store.forget(files, unit);
					this.store.write(files, state.withoutRun(unit).withLock(transition.lock()));
				}
				return transition.answer();
			}
			finally {
				if (file != null) {
					file.free();
				}
			}
		});
	}

	@Override
	public List<HeldLock> locks(int limit) {
		return this.gate.reading(null, () -> this.listing.all(limit, now()));
	}

	@Override
	public Optional<HeldLock> lock(String key) {
		return this.gate.reading(key, () -> this.listing.one(this.gate.files(key), key, now()));
	}

	@Override
	public List<RunRecord> runs(String key, int limit) {
		return this.gate.reading(key, () -> {
			StoredState state = this.store.read(this.gate.files(key), key);
			List<RunRow> runs = (state != null) ? this.store.runs(this.gate.files(key), state, limit) : List.of();
			return runs.stream()
				.sorted(Comparator.comparingLong(RunRow::began).reversed())
				.limit(limit)
				.map((run) -> run.toRecord(key))
				.toList();
		});
	}

	@Override
	public Optional<RunRecord> lastSuccess(String key) {
		return runs(key, Integer.MAX_VALUE).stream().filter((run) -> run.status() == Status.DONE).findFirst();
	}

	@Override
	public Purged purge(Duration idle, @Nullable String after, int limit) {
		return this.gate.reading(null, () -> this.purge.purge(idle, after, limit));
	}

	@Override
	public void check() {
		this.directory.check();
	}

	private void write(KeyFiles files, String key, @Nullable StoredState state, LockRow lock, @Nullable RunRow run)
			throws IOException {
		StoredState changed = (state != null) ? state.withLock(lock) : StoredState.of(key, lock);
		this.store.write(files, (run != null) ? changed.withRun(run) : changed);
	}

	private long now() {
		return Micros.of(this.clock.instant());
	}

	@FunctionalInterface
	private interface Decision {

		Transition<Settlement> over(@Nullable LockRow lock, @Nullable RunRow run);

	}

}
