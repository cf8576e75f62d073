package io.mutex.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import io.mutex.Acquisition;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.Leases;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.TransactionalStore;
import io.mutex.engine.Entrance.Entry;
import io.mutex.fence.FenceGuard;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;

/**
 * Runs protected work: asks the provider, waits, keeps the lease, and settles when the
 * work ends. One engine serves all keys of one provider.
 */
public final class LockEngine implements MutexTemplate, AutoCloseable {

	private final LockProvider provider;

	private final EngineSettings settings;

	private final TimeSource time;

	private final EngineListeners listeners;

	private final RunReporter reporter;

	private final LeaseKeeper keeper;

	private final WaitingLine line = new WaitingLine();

	private final EngineThreads threads = new EngineThreads();

	private final Signals signals;

	private final Guards guards;

	private final Supplier<String> nonces;

	private final Reentrance reentrance;

	private final Entrance entrance;

	private final Settler settler;

	private final ProtectedCall calls;

	private final CleanUp cleanUp;

	private final Monitors monitors;

	private volatile @Nullable RunSurroundings surroundings;

	private volatile boolean accepting = true;

	/**
	 * Creates an engine with the clocks of the system.
	 * @param provider where the locks live; not closed by the engine
	 * @param settings the settings
	 * @param listeners who is told
	 */
	public LockEngine(LockProvider provider, EngineSettings settings, List<MutexListener> listeners) {
		this(provider, settings, listeners, TimeSource.SYSTEM, Nonces.secure());
	}

	/**
	 * Creates an engine.
	 * @param provider where the locks live; not closed by the engine
	 * @param settings the settings
	 * @param listeners who is told
	 * @param time the clocks of this process
	 * @param nonces a source of 32 random hexadecimal digits
	 */
	public LockEngine(LockProvider provider, EngineSettings settings, List<MutexListener> listeners, TimeSource time,
			Supplier<String> nonces) {
		this.provider = provider;
		this.settings = settings;
		this.time = time;
		this.listeners = new EngineListeners(listeners);
		this.reporter = new RunReporter(this.listeners);
		this.keeper = new LeaseKeeper(provider, time, this.listeners, settings.interruptOnLoss(),
				this.threads.application(), this.line);
		this.monitors = new Monitors(this.keeper, time, this.listeners);
		this.settler = new Settler(provider, time, this.keeper, this.line, this.listeners);
		this.calls = new ProtectedCall(this.settler, this.reporter, this.threads);
		this.guards = new Guards(this.listeners, provider);
		this.reentrance = new Reentrance(this.guards);
		this.nonces = nonces;
		Owner self = new Owner(settings.instance(), HostName.get(), ProcessHandle.current().pid(), "");
		this.signals = new Signals(provider, nonces.get(), this.line);
		Asker asker = new Asker(provider, time, nonces, this.line, this.threads.store());
		Acquirer acquirer = new Acquirer(asker, settings, time, this.line, this.keeper, this.monitors, this.signals,
				this::isAccepting);
		this.entrance = new Entrance(provider, acquirer, this.guards, this.keeper, this.monitors, this.settler,
				this.listeners, time, self, this::isAccepting);
		this.cleanUp = new CleanUp(provider, this.guards::all, settings.retention(), time, nonces, self,
				this.threads.store());
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LeaseCallback<T, E> body)
			throws E {
		if (request.unit() != null) {
			throw new IllegalArgumentException("key '" + request.key() + "' was asked for with unit '"
					+ request.unit().id() + "': a unit is recorded by singleRun, not by execute");
		}
		Reentrance.check(request);
		RunSurroundings around = this.surroundings;
		LeaseCallback<T, E> work = (around != null) ? around.work(this, request, body) : body;
		HeldLease outer = this.reentrance.find(request);
		if (outer != null) {
			return again(outer, work);
		}
		Entry entry = this.entrance.enter(request, this.settings.lockLease(), this.settings.lockMaxHold(), false);
		if (entry.acquisition() instanceof Acquisition.Held held) {
			throw Entrance.notAcquired(request, held);
		}
		try {
			return this.calls.execute(entry.lease(), work);
		}
		finally {
			this.cleanUp.workEnded();
		}
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request,
			LeaseCallback<T, E> body) throws E {
		Reentrance.check(request);
		RunSurroundings around = this.surroundings;
		return (around != null) ? run(around.request(this, request), around.body(this, request, body))
				: run(request, body);
	}

	private <T extends @Nullable Object, E extends Throwable> RunResult<T> run(LockRequest request,
			LeaseCallback<T, E> body) throws E {
		HeldLease outer = this.reentrance.find(request);
		TransactionalRun joined = (outer != null) ? joined(outer) : null;
		if (joined != null && joined.isProvisionallyDone() && request.unit() != null) {
			return this.reporter.doneProvisionally(request);
		}
		if (outer != null) {
			return new RunResult<>(Outcome.EXECUTED, again(outer, body), null, null,
					"run within the call that holds the key");
		}
		Entry entry;
		try {
			entry = this.entrance.enter(request, this.settings.runLease(), this.settings.runMaxHold(), true);
		}
		catch (LockNotAcquiredException ex) {
			this.reporter.ran(request, 0, Outcome.SKIPPED_HELD, String.valueOf(ex.getMessage()), Duration.ZERO, ex);
			throw ex;
		}
		catch (MutexException ex) {
			this.reporter.ran(request, 0, Outcome.STORE_ERROR, String.valueOf(ex.getMessage()), Duration.ZERO, ex);
			throw ex;
		}
		if (entry.acquisition() instanceof Acquisition.Held held) {
			return this.reporter.held(request, held);
		}
		if (entry.acquisition() instanceof Acquisition.Done done) {
			return this.reporter.done(request, done.record());
		}
		if (entry.acquisition() instanceof Acquisition.NotYet notYet) {
			return this.reporter.notYet(request, notYet);
		}
		try {
			return this.calls.singleRun(request, entry.lease(), (Acquisition.Granted) entry.acquisition(), body);
		}
		finally {
			this.cleanUp.workEnded();
		}
	}

	// What a running call needs to come to its end is still let in.
	private boolean isAccepting() {
		return this.accepting || Leases.current().filter(Lease::isValid).isPresent();
	}

	private static <T extends @Nullable Object, E extends Throwable> T again(HeldLease lease, LeaseCallback<T, E> body)
			throws E {
		try (Leases.Scope scope = Leases.bind(lease)) {
			return body.run(lease);
		}
	}

	/**
	 * Makes the storages that work writes to refuse the holders before it.
	 * @param guards the guards at which each grant is registered
	 */
	public void guardBy(List<FenceGuard> guards) {
		this.guards.use(guards);
	}

	/**
	 * The guards at the storages.
	 * @return the guards, at which each grant is registered
	 */
	public List<FenceGuard> guards() {
		return this.guards.all();
	}

	/**
	 * Makes every lease lost that a key had here before a forced release, and refuses
	 * their grants at the guards.
	 * @param key the key
	 * @param token the token that the release has raised
	 * @return the names of the guards that refuse them
	 */
	public List<String> revoke(String key, FencingToken token) {
		this.keeper.freed(key, token);
		return this.guards.revoke(key, token, this.nonces.get());
	}

	/**
	 * Makes calls take part in what surrounds them.
	 * @param surroundings knows what that is
	 */
	public void surroundBy(RunSurroundings surroundings) {
		this.surroundings = surroundings;
	}

	/**
	 * Makes the monitors look for what a configuration calls a hazard.
	 * @param settings the limits
	 */
	public void monitorBy(MonitorSettings settings) {
		this.monitors.set(settings);
	}

	/**
	 * The leases that this process holds now.
	 * @return the leases, in no order
	 */
	public Collection<Lease> leases() {
		return List.copyOf(this.keeper.leases());
	}

	/**
	 * Makes a transaction that the call has begun decide the end of its run.
	 * @param lease the lease of the run
	 * @return the run, or {@code null} if it has no record, or the store cannot take part
	 * in a transaction
	 */
	public @Nullable TransactionalRun transactional(Lease lease) {
		return (lease.unit() != null && this.provider instanceof TransactionalStore) ? transactional(lease, false)
				: null;
	}

	/**
	 * Makes a transaction that the call has joined decide the end of its run, which is
	 * settled when that transaction has ended.
	 * @param lease the lease of the run
	 * @return the run, or {@code null} if it is not one of this engine
	 */
	public @Nullable TransactionalRun joining(Lease lease) {
		return transactional(lease, true);
	}

	private @Nullable TransactionalRun transactional(Lease lease, boolean joined) {
		if (!(lease instanceof HeldLease held) || !this.keeper.keeps(held)) {
			return null;
		}
		TransactionalRun run = held.transaction();
		if (run == null) {
			run = new TransactionalRun(held, this.provider, this.keeper, joined);
			held.transaction(run);
		}
		return run;
	}

	/**
	 * Keeps other leases from waiting for one whose row a transaction is about to lock,
	 * until its next renewal.
	 * @param lease the lease, which is renewed alone
	 */
	public void committing(Lease lease) {
		if (lease instanceof HeldLease held) {
			held.nextRenewal().alone(true);
		}
	}

	/**
	 * The run of an earlier call that waits for its transaction to end.
	 * @param lease the lease that the call was granted
	 * @return the run, or {@code null} if there is none
	 */
	public @Nullable TransactionalRun joined(Lease lease) {
		TransactionalRun run = (lease instanceof HeldLease held) ? held.transaction() : null;
		return (run != null && run.outlivesCall()) ? run : null;
	}

	/**
	 * The store, if it can record runs inside transactions of the application.
	 * @return the store, or {@code null}
	 */
	public @Nullable TransactionalStore transactionalStore() {
		return (this.provider instanceof TransactionalStore store) ? store : null;
	}

	/**
	 * How many threads of this process wait for a key.
	 * @param key the key
	 * @return the number
	 */
	public int waiting(String key) {
		return this.line.waiting(key);
	}

	/**
	 * Accepts calls, also again after {@link #drain(Duration)}.
	 */
	public void start() {
		this.accepting = true;
	}

	/**
	 * Refuses new calls, lets the running ones end, and then gives up the leases of those
	 * that have not: they are lost, their threads interrupted, and the store frees them
	 * when they expire. A running call may still re-enter and nest.
	 * @param timeout how long to let them run
	 * @return whether all had ended by themselves
	 */
	public boolean drain(Duration timeout) {
		this.accepting = false;
		this.line.wakeAll();
		long deadline = this.time.monotonicNanos() + timeout.toNanos();
		boolean ended = this.keeper.awaitNone(deadline);
		if (!ended) {
			this.keeper.abandonAll("the application is shutting down and the drain time of " + timeout + " is over");
		}
		return ended;
	}

	/**
	 * Ends the threads of the engine. Leases that are still held expire.
	 */
	@Override
	public void close() {
		this.accepting = false;
		this.cleanUp.stop();
		this.signals.stop();
		this.line.wakeAll();
		this.keeper.abandonAll("the application has shut down");
		this.keeper.stop();
		this.monitors.stop();
		this.threads.close();
	}

}
