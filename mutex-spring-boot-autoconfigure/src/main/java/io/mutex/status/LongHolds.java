package io.mutex.status;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.mutex.Lease;
import io.mutex.MutexListener;
import io.mutex.interceptor.DeclaredRun;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices single runs that hold their key longer than one interval of their schedule,
 * else 1 hour: one warning and one count for each hold. It looks when leases are renewed
 * and when they end, never on the way into a call.
 */
public final class LongHolds implements MutexListener {

	/** No hold is called long before this time. */
	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final Duration WITHOUT_SCHEDULE = Duration.ofHours(1);

	private static final Logger logger = LoggerFactory.getLogger(LongHolds.class);

	private final Supplier<? extends Collection<Lease>> leases;

	private final Supplier<List<DeclaredRun>> runs;

	private final InstantSource clock;

	private final Set<String> told = ConcurrentHashMap.newKeySet();

	private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

	/**
	 * Creates the watch.
	 * @param leases gives the leases that this instance holds now
	 * @param runs gives the declared jobs
	 * @param clock the clock of this instance
	 */
	public LongHolds(Supplier<? extends Collection<Lease>> leases, Supplier<List<DeclaredRun>> runs,
			InstantSource clock) {
		this.leases = leases;
		this.runs = runs;
		this.clock = clock;
	}

	@Override
	public void renewed(int renewed, int failed) {
		Map<String, DeclaredRun> declared = declared();
		this.leases.get().forEach((lease) -> check(lease, lease.heldFor(), declared));
	}

	@Override
	public void ended(Lease lease, Duration held) {
		if (held.compareTo(SHORTEST) >= 0) {
			check(lease, held, declared());
			this.told.remove(lease.nonce());
		}
	}

	/**
	 * The leases that this instance holds for too long now.
	 * @return the leases
	 */
	public List<Lease> current() {
		Map<String, DeclaredRun> declared = declared();
		return this.leases.get().stream().filter((lease) -> isLong(lease, lease.heldFor(), declared)).toList();
	}

	/**
	 * How many holds of a declared name were too long on this instance.
	 * @param name the declared name
	 * @return the number
	 */
	public long count(String name) {
		LongAdder count = this.counts.get(name);
		return (count != null) ? count.sum() : 0;
	}

	private Map<String, DeclaredRun> declared() {
		return this.runs.get().stream().collect(Collectors.toMap(DeclaredRun::name, (run) -> run, (one, other) -> one));
	}

	private void check(Lease lease, Duration held, Map<String, DeclaredRun> declared) {
		if (!isLong(lease, held, declared) || !this.told.add(lease.nonce())) {
			return;
		}
		this.counts.computeIfAbsent(lease.name(), (name) -> new LongAdder()).increment();
		logger.warn("Held for long: key={} token={} unit={} for {}, longer than {}", lease.key(), lease.token().value(),
				lease.unit(), held, limit(lease, held, declared));
	}

	private boolean isLong(Lease lease, Duration held, Map<String, DeclaredRun> declared) {
		Duration limit = (held.compareTo(SHORTEST) >= 0) ? limit(lease, held, declared) : null;
		return limit != null && held.compareTo(limit) > 0;
	}

	private @Nullable Duration limit(Lease lease, Duration held, Map<String, DeclaredRun> declared) {
		DeclaredRun run = declared.get(lease.name());
		if (run == null) {
			return (lease.unit() != null) ? WITHOUT_SCHEDULE : null;
		}
		return run.timetable().scheduled() ? run.timetable().interval(this.clock.instant().minus(held))
				: WITHOUT_SCHEDULE;
	}

}
