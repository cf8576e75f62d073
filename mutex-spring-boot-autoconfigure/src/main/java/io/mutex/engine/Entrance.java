package io.mutex.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;

/**
 * The way into protected work: asks the store for a lease, has it kept, and registers it
 * at the guards.
 */
final class Entrance {

	/** How many grants may be refused by the guards before the call is. */
	private static final int GRANTS = 3;

	private final LockProvider provider;

	private final Acquirer acquirer;

	private final Guards guards;

	private final LeaseKeeper keeper;

	private final Monitors monitors;

	private final Settler settler;

	private final EngineListeners listeners;

	private final TimeSource time;

	private final Owner self;

	private final BooleanSupplier accepting;

	Entrance(LockProvider provider, Acquirer acquirer, Guards guards, LeaseKeeper keeper, Monitors monitors,
			Settler settler, EngineListeners listeners, TimeSource time, Owner self, BooleanSupplier accepting) {
		this.provider = provider;
		this.acquirer = acquirer;
		this.guards = guards;
		this.keeper = keeper;
		this.monitors = monitors;
		this.settler = settler;
		this.listeners = listeners;
		this.time = time;
		this.self = self;
		this.accepting = accepting;
	}

	/**
	 * Asks for a lease. A grant that a guard refuses, because its store has lost what the
	 * guard knows, is given back, and one with a token above the guard's is asked for.
	 * @param request the request
	 * @param defaultLease the length of the lease if the request has none
	 * @param defaultMaxHold the longest hold if the request has none
	 * @param patient whether to wait for a store that has lost data, however short the
	 * request waits
	 * @return the answer, with the lease if it was granted
	 * @throws StaleFencingTokenException if the guards refused each of several grants
	 * @throws MutexException if the store or a guard did not answer, or refused
	 */
	Entry enter(LockRequest request, Duration defaultLease, @Nullable Duration defaultMaxHold, boolean patient) {
		this.keeper.entering();
		try {
			return grant(request, defaultLease, defaultMaxHold, patient);
		}
		finally {
			this.keeper.entered();
		}
	}

	private Entry grant(LockRequest request, Duration defaultLease, @Nullable Duration defaultMaxHold,
			boolean patient) {
		long floor = 0;
		for (int grants = 1; true; grants++) {
			Answer answer = acquire(request, defaultLease, floor, patient);
			if (answer.acquisition() instanceof Acquisition.HeldBack heldBack) {
				throw heldBack(request, heldBack);
			}
			if (!(answer.acquisition() instanceof Acquisition.Granted)) {
				return new Entry(answer.acquisition(), null);
			}
			HeldLease lease = granted(request, answer, defaultMaxHold);
			try {
				this.guards.register(lease, request.fencing());
				return new Entry(answer.acquisition(), lease);
			}
			catch (StaleFencingTokenException ex) {
				this.settler.released(lease, false);
				if (grants == GRANTS) {
					throw ex;
				}
				floor = Math.max(floor, ex.getAccepted().value());
			}
			catch (RuntimeException | Error ex) {
				this.settler.released(lease, false);
				throw ex;
			}
		}
	}

	private Answer acquire(LockRequest request, Duration defaultLease, long floor, boolean patient) {
		if (!this.accepting.getAsBoolean()) {
			this.listeners.acquisition(request.key(), request.name(), "shutdown", Duration.ZERO);
			throw shuttingDown(request);
		}
		Duration ttl = (request.lease() != null) ? request.lease() : defaultLease;
		Owner owner = new Owner(this.self.instance(), this.self.host(), this.self.pid(),
				Thread.currentThread().getName());
		long start = this.time.monotonicNanos();
		String outcome = "error";
		try {
			boolean turns = floor == 0 && request.unit() == null && request.permits() == 1
					&& !this.guards.cover(request.fencing());
			Answer answer = this.acquirer.acquire(new Question(request, owner, ttl, floor, turns), patient);
			outcome = answer.outcome();
			return checked(request, answer);
		}
		catch (LockNotAcquiredException ex) {
			outcome = (ex.getReason() == Reason.INTERRUPTED) ? "interrupted" : "shutdown";
			throw ex;
		}
		finally {
			this.listeners.acquisition(request.key(), request.name(), outcome,
					Duration.ofNanos(this.time.monotonicNanos() - start));
		}
	}

	private static LockNotAcquiredException shuttingDown(LockRequest request) {
		return new LockNotAcquiredException(request.key(), Reason.SHUTTING_DOWN, null,
				"key '" + request.key() + "' was not acquired: the application is shutting down; the work was not run");
	}

	private Answer checked(LockRequest request, Answer answer) {
		if (answer.acquisition() instanceof Acquisition.TooEarly early) {
			throw new MutexException(request.key(),
					"unit '" + ((request.unit() != null) ? request.unit().id() : null) + "' of key '" + request.key()
							+ "' begins " + early.offset() + " after the time of the " + this.provider.name()
							+ " store: check the clocks of this host and of the store; the work was not run");
		}
		if (answer.acquisition() instanceof Acquisition.Stale) {
			throw new MutexException(request.key(), "the " + this.provider.name() + " store has no answer for key '"
					+ request.key() + "': its grant was used up while the answer was on its way; the work was not run");
		}
		return answer;
	}

	private LockNotAcquiredException heldBack(LockRequest request, Acquisition.HeldBack heldBack) {
		return new LockNotAcquiredException(request.key(), request.waitFor().isZero() ? Reason.HELD : Reason.TIMED_OUT,
				null,
				"key '" + request.key() + "' was not acquired: the " + this.provider.name()
						+ " store has lost data and grants nothing for another " + heldBack.remaining()
						+ ", since holders that it no longer knows may still be at work; the work was not run");
	}

	static LockNotAcquiredException notAcquired(LockRequest request, Acquisition.Held held) {
		boolean waited = !request.waitFor().isZero();
		Owner holder = held.holder();
		return new LockNotAcquiredException(request.key(), waited ? Reason.TIMED_OUT : Reason.HELD, holder,
				"key '" + request.key() + "' is held by "
						+ ((holder != null) ? RunReporter.describe(holder) : "another run")
						+ (waited ? ", and the waiting time of " + request.waitFor() + " is over" : "")
						+ "; the work was not run");
	}

	private HeldLease granted(LockRequest request, Answer answer, @Nullable Duration defaultMaxHold) {
		if (answer.turn() == null) {
			throw new IllegalStateException("no grant in " + answer);
		}
		Duration maxHold = (request.maxHold() != null) ? request.maxHold() : defaultMaxHold;
		RunUnit unit = request.unit();
		int attempt = (answer.acquisition() instanceof Acquisition.Granted granted) ? granted.attempt() : 0;
		LeaseTerm term = new LeaseTerm(this.time, answer.turn().validity(), this.provider.expires(), maxHold);
		HeldLease lease = new HeldLease(answer.turn(), request.name(), (unit != null) ? unit.id() : null, term,
				answer.askedAgain(), request.attempts(), attempt, this.guards);
		this.listeners.granted(lease);
		try {
			this.keeper.keep(lease);
			this.monitors.granted(request);
			// asked after the lease is kept: either this call or the drain sees the other
			if (!this.accepting.getAsBoolean()) {
				throw shuttingDown(request);
			}
		}
		catch (RuntimeException | Error ex) {
			this.settler.released(lease, false);
			throw ex;
		}
		return lease;
	}

	/**
	 * The answer to a request.
	 *
	 * @param acquisition what the store said
	 * @param granted the lease, if it was granted
	 */
	record Entry(Acquisition acquisition, @Nullable HeldLease granted) {

		HeldLease lease() {
			if (this.granted == null) {
				throw new IllegalStateException("no grant in " + this.acquisition);
			}
			return this.granted;
		}

	}

}
