package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.mutex.FencingToken;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps leases alive and notices the end of those that it cannot keep. One thread asks
 * the store for renewals, in batches; another only reads the clocks, so that a store that
 * hangs delays no loss.
 */
final class LeaseKeeper {

	/** The largest batch that {@link LockProvider#renew} takes. */
	private static final int MAX_BATCH = 500;

	private static final long WATCH_INTERVAL = TimeUnit.MILLISECONDS.toNanos(100);

	private static final Logger logger = LoggerFactory.getLogger(LeaseKeeper.class);

	private final LockProvider provider;

	private final TimeSource time;

	private final EngineListeners listeners;

	private final boolean interruptOnLoss;

	private final Executor application;

	private final WaitingLine line;

	private final Set<HeldLease> leases = ConcurrentHashMap.newKeySet();

	/** Those that exclude all others, by key. */
	private final Map<String, HeldLease> holders = new ConcurrentHashMap<>();

	/** Calls that ask for a lease, or have got one that is not kept yet. */
	private final AtomicInteger entering = new AtomicInteger();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition none = this.lock.newCondition();

	private final TimedLoop renewal = new TimedLoop("mutex-renewal", this::renewDue);

	private final TimedLoop watch = new TimedLoop("mutex-watch", this::endOverdue);

	LeaseKeeper(LockProvider provider, TimeSource time, EngineListeners listeners, boolean interruptOnLoss,
			Executor application, WaitingLine line) {
		this.provider = provider;
		this.time = time;
		this.listeners = listeners;
		this.interruptOnLoss = interruptOnLoss;
		this.application = application;
		this.line = line;
	}

	Collection<HeldLease> leases() {
		return this.leases;
	}

	boolean keeps(HeldLease lease) {
		return this.leases.contains(lease);
	}

	/**
	 * Who holds a key and excludes all others.
	 * @param key the key
	 * @return the lease, valid or not, or {@code null} if this process has none
	 */
	@Nullable HeldLease holder(String key) {
		return this.holders.get(key);
	}

	void keep(HeldLease lease) {
		if (!lease.grant().shared()) {
			this.holders.put(lease.key(), lease);
		}
		lease.nextRenewal().at(lease.term().validity().sentMonotonic() + renewalInterval(lease));
		this.leases.add(lease);
		this.watch.wakeWithin(untilWatched(lease));
		this.renewal.wakeWithin(untilRenewal(lease));
	}

	// a lease that was given up while it could not be lost is lost now
	void resumed(HeldLease lease) {
		if (lease.isAbandoned()) {
			lose(lease, "the application shut down while its transaction was committed");
		}
		else {
			keep(lease);
		}
	}

	void forget(HeldLease lease) {
		this.holders.remove(lease.key(), lease);
		this.leases.remove(lease);
		signalIfNone();
	}

	// a call may get a lease from now on, which nobody else knows before it is kept
	void entering() {
		this.entering.incrementAndGet();
	}

	// what the call has got is kept
	void entered() {
		this.entering.decrementAndGet();
		signalIfNone();
	}

	// in the order in which a lease comes to be kept, or one on its way would be missed
	private boolean isNone() {
		return this.entering.get() == 0 && this.leases.isEmpty();
	}

	private void signalIfNone() {
		if (isNone()) {
			this.lock.lock();
			try {
				this.none.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/**
	 * Waits until no lease is kept, and none is on its way to a call.
	 * @param deadline until when, by the monotonic clock
	 * @return whether none is kept; {@code false} also if the thread is interrupted,
	 * whose flag is then set
	 */
	boolean awaitNone(long deadline) {
		this.lock.lock();
		try {
			long left = deadline - this.time.monotonicNanos();
			while (!isNone() && left > 0) {
				this.none.awaitNanos(left);
				left = deadline - this.time.monotonicNanos();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.lock.unlock();
		}
		return this.leases.isEmpty();
	}

	void stop() {
		this.renewal.stop();
		this.watch.stop();
	}

	void lose(HeldLease lease, String reason) {
		if (lease.lose(reason, this.interruptOnLoss)) {
			announce(lease, reason, this.application);
		}
	}

	/**
	 * Makes the leases of a key lost that the store has freed by force, so that those who
	 * wait for them here need not wait for their renewal.
	 * @param key the key
	 * @param token higher than the tokens of those leases
	 */
	void freed(String key, FencingToken token) {
		this.leases.stream()
			.filter((lease) -> lease.key().equals(key) && lease.grant().token() < token.value())
			.forEach((lease) -> lose(lease, "it was freed by force"));
	}

	/**
	 * Makes a lease lost that the clocks have ended.
	 * @param lease the lease
	 * @return whether it was overdue
	 */
	boolean loseIfOverdue(HeldLease lease) {
		String reason = lease.isHeld() ? lease.term().endedBy() : null;
		if (reason == null) {
			return false;
		}
		lose(lease, reason);
		return true;
	}

	/**
	 * Makes every lease lost and leaves it to the store to free them.
	 * @param reason why they are lost
	 */
	void abandonAll(String reason) {
		boolean any = true;
		// a lease that was still held in one round may have let in another
		while (any) {
			any = false;
			for (HeldLease lease : this.leases) {
				if (lease.abandon(reason, true)) {
					any = true;
					announce(lease, reason, Runnable::run);
				}
			}
		}
	}

	// What depends on the stage runs where it is cancelled, and listeners may block, so
	// never on a thread that other leases need.
	private void announce(HeldLease lease, String reason, Executor teller) {
		this.line.released(lease.key());
		CompletionStage<?> stage = lease.stage();
		if (stage != null) {
			this.application.execute(() -> Stages.cancel(stage));
		}
		logger.warn("Lost lease: key={} token={} provider={} after {}: {}", lease.key(), lease.token(),
				this.provider.name(), lease.heldFor(), reason);
		teller.execute(() -> {
			this.listeners.lost(lease, reason);
			lease.lossTold().complete(true);
		});
	}

	private long renewalInterval(HeldLease lease) {
		long interval = lease.nextRenewal().interval();
		if (interval == 0) {
			interval = this.provider.renewalInterval(lease.grant().ttl()).toNanos();
			lease.nextRenewal().every(interval);
		}
		return interval;
	}

	private long untilRenewal(HeldLease lease) {
		return Math.max(1, lease.nextRenewal().due() - this.time.monotonicNanos());
	}

	// At the deadline by the monotonic clock; in between, the wall clock may be set.
	private static long untilWatched(HeldLease lease) {
		return Math.max(1, Math.min(WATCH_INTERVAL, lease.term().timeLeft()));
	}

	private long endOverdue() {
		long next = TimedLoop.IDLE;
		for (HeldLease lease : this.leases) {
			// the clocks are asked once for each, of which there may be thousands
			long left = lease.isHeld() ? lease.term().timeLeft() : TimedLoop.IDLE;
			if (left > 0 || !loseIfOverdue(lease)) {
				next = Math.min(next, left);
			}
		}
		return (next != TimedLoop.IDLE) ? Math.max(1, Math.min(WATCH_INTERVAL, next)) : TimedLoop.IDLE;
	}

	private long renewDue() {
		long now = this.time.monotonicNanos();
		List<Due> together = new ArrayList<>();
		List<Due> early = new ArrayList<>();
		List<Due> alone = new ArrayList<>();
		for (HeldLease lease : this.leases) {
			long in = lease.nextRenewal().due() - now;
			long interval = renewalInterval(lease);
			if (in <= interval / 2 && !loseIfOverdue(lease) && lease.isHeld()) {
				boolean due = in <= interval / 10;
				if (!lease.nextRenewal().isAlone()) {
					(due ? together : early).add(new Due(lease, in));
				}
				else if (due) {
					alone.add(new Due(lease, in));
				}
			}
		}
		fill(together, early);
		for (int from = 0; from < together.size(); from += MAX_BATCH) {
			renew(together.subList(from, Math.min(together.size(), from + MAX_BATCH)));
		}
		alone.sort(Due.SOONEST);
		for (Due due : alone) {
			renew(List.of(due));
			// each may wait for its row, and the others cannot wait for all of them
			if (isAnyDueTogether()) {
				break;
			}
		}
		return untilNextRenewal();
	}

	// A batch has room for leases that are due soon: thereby they come to be due at once,
	// and batches are full, at whatever times the leases were granted.
	private static void fill(List<Due> together, List<Due> early) {
		together.sort(Due.SOONEST);
		int room = Math.floorMod(-together.size(), MAX_BATCH);
		if (room > 0) {
			early.sort(Due.SOONEST);
			together.addAll(early.subList(0, Math.min(room, early.size())));
		}
	}

	private boolean isAnyDueTogether() {
		long now = this.time.monotonicNanos();
		return this.leases.stream()
			.anyMatch((lease) -> lease.isHeld() && !lease.nextRenewal().isAlone()
					&& lease.nextRenewal().due() - now <= 0);
	}

	private long untilNextRenewal() {
		long until = TimedLoop.IDLE;
		for (HeldLease lease : this.leases) {
			if (lease.isHeld()) {
				until = Math.min(until, untilRenewal(lease));
			}
		}
		return until;
	}

	private void renew(List<Due> due) {
		List<HeldLease> batch = due.stream().map(Due::lease).toList();
		List<Grant> grants = batch.stream().map(HeldLease::grant).toList();
		Validity sent = Validity.sentNow(this.time, Duration.ZERO);
		try {
			List<Renewal> answers = this.provider.renew(grants);
			for (int i = 0; i < batch.size(); i++) {
				apply(batch.get(i), answers.get(i), sent);
			}
			this.listeners.renewed(answers);
		}
		catch (RuntimeException ex) {
			logger.warn("Could not renew {} lease(s), first key={} provider={}: {}; trying again until each deadline",
					batch.size(), batch.get(0).key(), this.provider.name(), describe(ex));
			logger.debug("The failed renewal", ex);
			batch.forEach(this::retrySoon);
			this.listeners.renewalFailed(batch.size());
		}
	}

	private void apply(HeldLease lease, Renewal answer, Validity sent) {
		// an answer that comes after the deadline revives nothing
		if (loseIfOverdue(lease)) {
			return;
		}
		switch (answer) {
			case RENEWED -> {
				lease.renewed(sent.lasting(lease.grant().ttl()));
				lease.nextRenewal().at(sent.sentMonotonic() + renewalInterval(lease));
			}
			case BUSY -> {
				lease.nextRenewal().alone(true);
				retrySoon(lease);
			}
			case LOST -> lose(lease, "the store no longer names it as the holder");
		}
	}

	private void retrySoon(HeldLease lease) {
		lease.nextRenewal()
			.at(this.time.monotonicNanos() + Math.min(TimeUnit.SECONDS.toNanos(1), renewalInterval(lease) / 4));
	}

	private static String describe(RuntimeException ex) {
		return (ex instanceof MutexException) ? String.valueOf(ex.getMessage()) : ex.toString();
	}

	/**
	 * A lease that may be renewed now.
	 *
	 * @param lease the lease
	 * @param in in how many nanoseconds it is due, as it was when it was looked at
	 */
	private record Due(HeldLease lease, long in) {

		private static final Comparator<Due> SOONEST = Comparator.comparingLong(Due::in);

	}

}
