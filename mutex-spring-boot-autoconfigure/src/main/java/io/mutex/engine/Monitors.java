package io.mutex.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.LockHazard;
import io.mutex.LockHazard.Kind;
import io.mutex.LockRequest;
import io.mutex.engine.LockOrder.Taken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks now and then for what holds work up, or may do so. Calls only leave a note when
 * they wait, and when they take a key while they hold others; a thread of its own looks
 * at these notes and at the leases, and tells of each occurrence once.
 */
final class Monitors {

	/** How often it looks while somebody waits. */
	private static final long INTERVAL = TimeUnit.SECONDS.toNanos(1);

	/** How often it looks at least while something is held. */
	private static final long LONGEST_INTERVAL = TimeUnit.MINUTES.toNanos(1);

	/** How many nested calls are looked at each time; more are not noted. */
	private static final int NOTES = 256;

	/** How many pairs of keys, and names of nested calls, are remembered. */
	private static final int REMEMBERED = 1000;

	/** How many lines are logged within the longest interval. */
	private static final int LINES = 20;

	private static final Logger logger = LoggerFactory.getLogger(Monitors.class);

	private final LeaseKeeper keeper;

	private final TimeSource time;

	private final EngineListeners listeners;

	private final Set<Wait> waits = ConcurrentHashMap.newKeySet();

	private final Queue<Nesting> nestings = new ArrayBlockingQueue<>(NOTES);

	private final LockOrder order = new LockOrder(REMEMBERED);

	private final Set<String> nestedNames = new HashSet<>();

	private final Set<HeldLease> told = Collections.newSetFromMap(new IdentityHashMap<>());

	private final TimedLoop loop = new TimedLoop("mutex-monitor", this::look);

	private volatile MonitorSettings settings = MonitorSettings.defaults();

	private long linesSince;

	private int lines;

	Monitors(LeaseKeeper keeper, TimeSource time, EngineListeners listeners) {
		this.keeper = keeper;
		this.time = time;
		this.listeners = listeners;
	}

	void set(MonitorSettings settings) {
		this.settings = settings;
	}

	void stop() {
		this.loop.stop();
	}

	/**
	 * Notes that the current thread waits.
	 * @param request what for
	 * @return ends the note when it is closed
	 */
	Waiting waiting(LockRequest request) {
		if (!this.settings.enabled()) {
			return () -> {
			};
		}
		Wait wait = new Wait(request, Leases.held(), this.time.monotonicNanos());
		this.waits.add(wait);
		wakeWithin(INTERVAL);
		return () -> this.waits.remove(wait);
	}

	/**
	 * Notes that the current thread was granted a key, before its work begins.
	 * @param request what it had asked for
	 */
	void granted(LockRequest request) {
		MonitorSettings limits = this.settings;
		if (!limits.enabled()) {
			return;
		}
		List<Lease> held = Leases.held();
		if (!held.isEmpty()) {
			this.nestings.offer(new Nesting(held, request, Thread.currentThread().getName()));
		}
		wakeWithin(held.isEmpty() ? holdInterval(limits) : INTERVAL);
	}

	// a process that can start no thread still does its work
	private void wakeWithin(long nanos) {
		try {
			this.loop.wakeWithin(nanos);
		}
		catch (OutOfMemoryError ex) {
			logger.debug("The monitors have no thread", ex);
		}
	}

	private static long holdInterval(MonitorSettings limits) {
		return Math.max(INTERVAL, Math.min(LONGEST_INTERVAL, nanos(limits.holdLimit())));
	}

	private static long nanos(Duration duration) {
		return (duration.compareTo(Duration.ofNanos(LONGEST_INTERVAL)) < 0) ? duration.toNanos() : LONGEST_INTERVAL;
	}

	/**
	 * Looks at everything once, on the thread of the monitors.
	 * @return in how many nanoseconds to look again
	 */
	long look() {
		MonitorSettings limits = this.settings;
		List<Wait> waiting = List.copyOf(this.waits);
		Collection<HeldLease> leases = this.keeper.leases();
		this.told.removeIf((lease) -> !leases.contains(lease));
		waiting.forEach((wait) -> checkWait(wait, limits.waitingLimit()));
		WaitCycles.find(waiting, leases).forEach(this::checkCycle);
		leases.forEach((lease) -> checkHold(lease, limits.holdLimit()));
		for (Nesting nesting = this.nestings.poll(); nesting != null; nesting = this.nestings.poll()) {
			checkDepth(nesting, limits.nestingLimit());
			checkOrder(nesting);
		}
		if (!waiting.isEmpty()) {
			return INTERVAL;
		}
		return leases.isEmpty() ? TimedLoop.IDLE : holdInterval(limits);
	}

	private void checkWait(Wait wait, Duration limit) {
		Duration waited = wait.waitedUntil(this.time.monotonicNanos());
		if (waited.compareTo(limit) > 0 && wait.tell(Kind.STARVATION)) {
			tell(Kind.STARVATION, wait.key(), wait.name(), wait + " for " + waited + ", longer than " + limit);
		}
	}

	private void checkHold(HeldLease lease, Duration limit) {
		Duration held = lease.heldFor();
		if (lease.unit() == null && lease.isHeld() && held.compareTo(limit) > 0 && this.told.add(lease)) {
			tell(Kind.LONG_HOLD, lease.key(), lease.name(),
					"'" + lease.key() + "' has been held for " + held + ", longer than " + limit);
		}
	}

	private void checkDepth(Nesting nesting, int limit) {
		LockRequest request = nesting.request();
		int depth = nesting.held().size() + 1;
		if (depth > limit && this.nestedNames.size() < REMEMBERED && this.nestedNames.add(request.name())) {
			tell(Kind.DEEP_NESTING, request.key(), request.name(), "thread '" + nesting.thread() + "' holds " + depth
					+ " keys at once, more than " + limit + ": " + nesting);
		}
	}

	// a call that does not wait can be a part of no deadlock
	private void checkOrder(Nesting nesting) {
		LockRequest request = nesting.request();
		if (request.waitFor().isZero()) {
			return;
		}
		for (Lease outer : nesting.held()) {
			Taken taken = new Taken(outer.name(), outer.key(), request.name(), request.key(), nesting.thread());
			Taken opposite = this.order.add(taken);
			if (opposite != null) {
				tell(Kind.OPPOSITE_ORDERS, request.key(), request.name(),
						taken + ", and before " + opposite + ": two such calls at once may wait for each other");
			}
		}
	}

	private void checkCycle(List<Wait> cycle) {
		// a wait that was over when a later one was seen is no part of a cycle
		boolean together = this.waits.containsAll(cycle)
				&& cycle.stream().allMatch((wait) -> wait.held().stream().anyMatch(Lease::isValid));
		if (together && cycle.stream().filter((wait) -> wait.tell(Kind.DEADLOCK)).count() == cycle.size()) {
			tell(Kind.DEADLOCK, cycle.get(0).key(), cycle.get(0).name(),
					cycle.stream().map(Wait::toString).collect(Collectors.joining(", "))
							+ ": none of them goes on until one gives up");
		}
	}

	private void tell(Kind kind, String key, String name, String description) {
		long now = this.time.monotonicNanos();
		if (now - this.linesSince >= LONGEST_INTERVAL || this.lines == 0) {
			this.linesSince = now;
			this.lines = 0;
		}
		this.lines++;
		if (this.lines <= LINES) {
			logger.warn("{}: key={} {}{}", kind, key, description,
					(this.lines == LINES) ? "; more within this minute are only counted" : "");
		}
		this.listeners.hazard(new LockHazard(kind, key, name, description));
	}

	/**
	 * The time in which a thread waits.
	 */
	@FunctionalInterface
	interface Waiting extends AutoCloseable {

		@Override
		void close();

	}

	/**
	 * A key that was taken while others were held.
	 *
	 * @param held what was held, the innermost first
	 * @param request what was taken
	 * @param thread the thread
	 */
	private record Nesting(List<Lease> held, LockRequest request, String thread) {

		@Override
		public String toString() {
			return this.held.stream().map((lease) -> "'" + lease.key() + "', ").collect(Collectors.joining()) + "'"
					+ this.request.key() + "'";
		}

	}

}
