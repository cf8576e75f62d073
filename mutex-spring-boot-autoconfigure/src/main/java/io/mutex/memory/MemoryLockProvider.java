package io.mutex.memory;

import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiFunction;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.Purged;
import io.mutex.Reopening;
import io.mutex.protocol.LockRow;
import io.mutex.protocol.Micros;
import io.mutex.protocol.Retention;
import io.mutex.protocol.Retention.Newest;
import io.mutex.protocol.RunRow;
import io.mutex.protocol.StoreProtocol;
import io.mutex.protocol.Transition;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;

/**
 * Keeps locks in the memory of one process: for tests, since it protects nothing from a
 * second instance.
 */
public final class MemoryLockProvider implements LockProvider {

	private final Clock clock;

	private final Map<String, Slot> slots = new TreeMap<>();

	public MemoryLockProvider() {
		this(Clock.systemUTC());
	}

	/**
	 * Creates a store with a clock of its own.
	 * @param clock the store's clock
	 */
	public MemoryLockProvider(Clock clock) {
		this.clock = clock;
	}

	@Override
	public String name() {
		return "memory";
	}

	@Override
	public Acquisition acquire(AcquireRequest request) {
		String unit = (request.unit() != null) ? request.unit().id() : null;
		return step(request.key(), unit,
				(rows, now) -> StoreProtocol.acquire(rows.lock, rows.shared, rows.run, request, now));
	}

	@Override
	public List<Renewal> renew(List<Grant> grants) {
		return grants.stream()
			.map((grant) -> step(grant.key(), null,
					(rows, now) -> StoreProtocol.renew(rows.lock, rows.shared, grant, now)))
			.toList();
	}

	@Override
	public Settlement release(String key, String nonce, boolean began) {
		return step(key, null, (rows, now) -> StoreProtocol.release(rows.lock, rows.shared, nonce, began, now));
	}

	@Override
	public Settlement complete(Grant grant, String unit) {
		return step(grant.key(), unit, (rows, now) -> StoreProtocol.complete(rows.lock, rows.run, grant, unit, now));
	}

	@Override
	public Settlement fail(Grant grant, String unit, String error, Duration delay) {
		return step(grant.key(), unit,
				(rows, now) -> StoreProtocol.fail(rows.lock, rows.run, grant, unit, now, delay, error));
	}

	@Override
	public ForcedRelease forceRelease(String key) {
		String nonce = UUID.randomUUID().toString().replace("-", "");
		return step(key, null, (rows, now) -> StoreProtocol.forceRelease(key, rows.lock, rows.shared, nonce, now));
	}

	@Override
	public Reopening reopen(String key, String unit) {
		return step(key, unit, (rows, now) -> StoreProtocol.reopen(key, rows.lock, rows.run, unit, now));
	}

	@Override
	public List<HeldLock> locks(int limit) {
		synchronized (this.slots) {
			long now = Micros.of(this.clock.instant());
			return this.slots.entrySet()
				.stream()
				.flatMap((entry) -> held(entry.getKey(), entry.getValue(), now).stream())
				.limit(limit)
				.toList();
		}
	}

	@Override
	public Optional<HeldLock> lock(String key) {
		synchronized (this.slots) {
			Slot slot = this.slots.get(key);
			return (slot != null) ? held(key, slot, Micros.of(this.clock.instant())).stream().findFirst()
					: Optional.empty();
		}
	}

	@Override
	public List<RunRecord> runs(String key, int limit) {
		synchronized (this.slots) {
			Slot slot = this.slots.get(key);
			if (slot == null) {
				return List.of();
			}
			return slot.runs.values()
				.stream()
				.sorted(Comparator.comparingLong(RunRow::began).reversed())
				.limit(limit)
				.map((run) -> run.toRecord(key))
				.toList();
		}
	}

	@Override
	public Optional<RunRecord> lastSuccess(String key) {
		return runs(key, Integer.MAX_VALUE).stream().filter((run) -> run.status() == Status.DONE).findFirst();
	}

	@Override
	public Purged purge(Duration idle, @Nullable String after, int limit) {
		synchronized (this.slots) {
			long now = Micros.of(this.clock.instant());
			List<String> keys = this.slots.keySet()
				.stream()
				.filter((key) -> after == null || key.compareTo(after) > 0)
				.limit(limit)
				.toList();
			int removed = keys.stream().mapToInt((key) -> purge(key, idle, now)).sum();
			return new Purged(removed, (keys.size() == limit) ? keys.get(limit - 1) : null);
		}
	}

	private int purge(String key, Duration idle, long now) {
		Slot slot = this.slots.getOrDefault(key, new Slot());
		int before = slot.runs.size();
		Newest newest = Newest.of(slot.runs.values());
		slot.runs.values().removeIf((run) -> Retention.isSpent(run, newest, slot.lock, key, now));
		int removed = before - slot.runs.size();
		if (slot.runs.isEmpty() && (slot.lock == null || Retention.isSpent(slot.lock, key, idle, now))) {
			this.slots.remove(key);
			removed++;
		}
		return removed;
	}

	@Override
	public void check() {
		// memory is always there
	}

	private static List<HeldLock> held(String key, Slot slot, long now) {
		return StoreProtocol.holders(key, slot.lock, slot.shared, now);
	}

	private <A> A step(String key, @Nullable String unit, BiFunction<Rows, Long, Transition<A>> decision) {
		synchronized (this.slots) {
			Slot slot = this.slots.computeIfAbsent(key, (absent) -> new Slot());
			Rows rows = new Rows(slot.lock, slot.shared, (unit != null) ? slot.runs.get(unit) : null);
			Transition<A> transition = decision.apply(rows, Micros.of(this.clock.instant()));
			if (transition.lock() != null) {
				slot.lock = transition.lock();
			}
			if (transition.shared() != null) {
				slot.shared = transition.shared();
			}
			if (transition.run() != null) {
				slot.runs.put(transition.run().unit(), transition.run());
			}
			if (transition.forgotten() != null) {
				slot.runs.remove(transition.forgotten());
			}
			return transition.answer();
		}
	}

	private record Rows(@Nullable LockRow lock, List<LockRow> shared, @Nullable RunRow run) {

	}

	private static final class Slot {

		private @Nullable LockRow lock;

		private List<LockRow> shared = List.of();

		private final Map<String, RunRow> runs = new HashMap<>();

	}

}
