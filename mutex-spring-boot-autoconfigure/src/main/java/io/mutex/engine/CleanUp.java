package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Renewal;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.fence.FenceGuard;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the store forget what need not be kept, about once a day, by one instance of the
 * application at a time. It follows work that has ended, so an idle instance sends
 * nothing; and its first time is some minutes after the start, so one that runs a single
 * job and ends is not kept from it.
 * <p>
 * That it is done once is the store's own record, under a key that is shown among the
 * others.
 */
final class CleanUp {

	/**
	 * The key under which the clean-up is done and recorded.
	 */
	static final String KEY = "mutex:clean-up";

	private static final Logger logger = LoggerFactory.getLogger(CleanUp.class);

	private static final Duration INTERVAL = Duration.ofDays(1);

	private static final Duration FIRST = Duration.ofMinutes(10);

	private static final Duration LEASE = Duration.ofMinutes(2);

	private static final int BATCH = 500;

	private final LockProvider provider;

	private final Supplier<List<FenceGuard>> guards;

	private final Duration retention;

	private final TimeSource time;

	private final Supplier<String> nonces;

	private final Owner self;

	private final Executor executor;

	private final AtomicLong due;

	private volatile boolean stopped;

	CleanUp(LockProvider provider, Supplier<List<FenceGuard>> guards, Duration retention, TimeSource time,
			Supplier<String> nonces, Owner self, Executor executor) {
		this.provider = provider;
		this.guards = guards;
		this.retention = retention;
		this.time = time;
		this.nonces = nonces;
		this.self = self;
		this.executor = executor;
		this.due = new AtomicLong(time.monotonicNanos() + FIRST.toNanos() + atMost(FIRST));
	}

	/**
	 * Begins a clean-up on a thread of its own if one is due.
	 */
	void workEnded() {
		long planned = this.due.get();
		long now = this.time.monotonicNanos();
		if (now - planned >= 0 && !this.stopped
				&& this.due.compareAndSet(planned, now + INTERVAL.toNanos() + atMost(INTERVAL.dividedBy(24)))) {
			this.executor.execute(this::run);
		}
	}

	/**
	 * Ends with the batch that is under way, and begins no more.
	 */
	void stop() {
		this.stopped = true;
	}

	private void run() {
		if (this.stopped) {
			return;
		}
		try {
			RunUnit daily = RunUnit.rolling(INTERVAL.minus(INTERVAL.dividedBy(24))).keptFor(Duration.ofDays(90));
			AcquireRequest request = new AcquireRequest(KEY, KEY, this.nonces.get(), this.self, LEASE, 0, daily, 0, 1);
			if (this.provider.acquire(request) instanceof Acquisition.Granted granted) {
				run(new Grant(KEY, request.nonce(), granted.token(), LEASE), daily);
			}
		}
		catch (MutexException ex) {
			logger.warn(
					"What need not be kept was not removed from the store, and is next time; key={} provider={}: {}",
					KEY, this.provider.name(), ex.getMessage());
			logger.debug("Clean-up failed", ex);
		}
		catch (RuntimeException ex) {
			logger.warn("Clean-up failed; key={} provider={}", KEY, this.provider.name(), ex);
		}
	}

	private void run(Grant grant, RunUnit unit) {
		boolean done = false;
		try {
			long removed = purge(grant);
			if (removed >= 0) {
				done = this.provider.complete(grant, unit.id()) == LockProvider.Settlement.SETTLED;
				logger.debug("{} runs and keys were removed; key={} token={} provider={}", removed, KEY, grant.token(),
						this.provider.name());
			}
		}
		finally {
			if (!done) {
				this.provider.release(KEY, grant.nonce(), false);
			}
		}
	}

	// how many were removed, or -1 if it has to end before all are
	private long purge(Grant grant) {
		List<Store> stores = new ArrayList<>();
		stores.add(this.provider::purge);
		this.guards.get().forEach((guard) -> stores.add(guard::purge));
		long removed = 0;
		long renewed = this.time.monotonicNanos();
		for (Store store : stores) {
			@Nullable String after = null;
			do {
				if (this.stopped) {
					return -1;
				}
				if (this.time.monotonicNanos() - renewed > LEASE.dividedBy(3).toNanos()) {
					if (this.provider.renew(List.of(grant)).get(0) == Renewal.LOST) {
						return -1;
					}
					renewed = this.time.monotonicNanos();
				}
				Purged batch = store.purge(this.retention, after, BATCH);
				removed += batch.removed();
				after = batch.next();
			}
			while (after != null);
		}
		return removed;
	}

	private static long atMost(Duration most) {
		return ThreadLocalRandom.current().nextLong(most.toNanos());
	}

	/**
	 * What is cleaned up in batches.
	 */
	@FunctionalInterface
	private interface Store {

		Purged purge(Duration idle, @Nullable String after, int limit);

	}

}
