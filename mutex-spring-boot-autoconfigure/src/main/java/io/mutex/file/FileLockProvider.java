package io.mutex.file;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.Reopening;
import io.mutex.file.FileReleaser.Decision;
import io.mutex.file.JvmLocks.HeldFile;
import io.mutex.protocol.Micros;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in files of a directory, for the processes of one host. The kernel frees a
 * lock with the process that holds it, so leases have no deadline.
 * <p>
 * Each key has a lock file, which is empty, never deleted and never opened twice in a
 * JVM, and a state file beside it, which only the holder of the lock replaces, or of
 * several holders the one in the {@link StateSection}.
 */
public final class FileLockProvider implements LockProvider {

	private static final Duration LONGEST_RENEWAL_INTERVAL = Duration.ofMillis(500);

	private final LockDirectory directory;

	private final Clock clock;

	private final StateStore store;

	private final JvmLocks locks = JvmLocks.SHARED;

	private final Gate gate;

	private final KernelLocks kernel = new KernelLocks();

	private final FileAcquirer acquirer;

	private final FileReleaser releaser;

	private final HoldWatch watch;

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
		this.acquirer = new FileAcquirer(this.store, this.locks, this.kernel, this::now);
		this.releaser = new FileReleaser(this.store, this.locks, this::now);
		this.watch = new HoldWatch(this.gate, this.locks);
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
		return this.gate.enter(request.key(), (files, identity) -> this.acquirer.acquire(request, files, identity));
	}

	@Override
	public List<Renewal> renew(List<Grant> grants) {
		KernelLocks.View view = this.kernel.view();
		return grants.stream().map((grant) -> this.watch.look(grant, view)).toList();
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		try {
			return settle(key, nonce, null, (lock, run) -> StoreProtocol.release(lock, nonce, began, now()));
		}
		catch (MutexException ex) {
			// the body has ended: what cannot be stored is found abandoned by the next
			// holder
			this.watch.drop(key, nonce);
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
		boolean owned = this.gate.reading(key, () -> this.watch.isIntact(key, nonce, this.kernel.view()));
		return this.gate.enter(key, (files, identity) -> {
			HeldFile held = this.locks.held(identity.text(), files.grantId(nonce));
			if (owned && held != null) {
				return this.releaser.settle(key, files, held, unit, decision);
			}
			if (unit != null) {
				StoredState state = this.store.read(files, key);
				return decision.over(null, this.store.run(files, state, unit)).answer();
			}
			return this.releaser.releaseUnheld(key, files, identity, nonce, decision);
		});
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		return this.gate.enter(key, (files, identity) -> {
			dropLost(key, identity);
			return this.releaser.force(key, files, identity);
		});
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return this.gate.enter(key, (files, identity) -> {
			dropLost(key, identity);
			return this.releaser.reopen(key, files, identity, unit);
		});
	}

	private void dropLost(String key, FileIdentity identity) throws IOException {
		KernelLocks.View view = this.kernel.view();
		for (HeldFile held : this.locks.all(identity.text())) {
			this.watch.isIntact(key, held.nonce(), view);
		}
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

	private long now() {
		return Micros.of(this.clock.instant());
	}

}
