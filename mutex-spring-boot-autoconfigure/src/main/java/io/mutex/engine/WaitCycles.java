package io.mutex.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.mutex.Lease;
import org.jspecify.annotations.Nullable;

/**
 * Finds threads that wait for each other in a snapshot of who waits and who holds: the
 * cycles of the wait-for graph. A thread that asks for one of several permits is held up
 * only if none of their holders can go on.
 */
final class WaitCycles {

	private final Set<Wait> stuck;

	private final Map<String, List<HeldLease>> holders = new HashMap<>();

	private final Map<Lease, Wait> waitOfHolder = new HashMap<>();

	private WaitCycles(Collection<Wait> waits, Collection<HeldLease> leases) {
		this.stuck = new LinkedHashSet<>(waits);
		Set<String> wanted = new HashSet<>();
		for (Wait wait : waits) {
			wanted.add(wait.key());
			wait.held().forEach((lease) -> this.waitOfHolder.put(lease, wait));
		}
		for (HeldLease lease : leases) {
			if (lease.isHeld() && wanted.contains(lease.key())) {
				this.holders.computeIfAbsent(lease.key(), (key) -> new ArrayList<>()).add(lease);
			}
		}
	}

	/**
	 * Finds the cycles.
	 * @param waits who waits, and what each holds
	 * @param leases who holds
	 * @return the waits of each cycle, each the one that the one before it waits for
	 */
	static List<List<Wait>> find(Collection<Wait> waits, Collection<HeldLease> leases) {
		if (waits.stream().allMatch((wait) -> wait.held().isEmpty())) {
			return List.of();
		}
		WaitCycles graph = new WaitCycles(waits, leases);
		while (graph.stuck.removeIf((wait) -> !graph.isStuck(wait))) {
			// each that can go on may let others go on
		}
		return graph.cycles();
	}

	private boolean isStuck(Wait wait) {
		List<HeldLease> stuckHolders = stuckHolders(wait);
		return (wait.permits() == 1) ? !stuckHolders.isEmpty() : stuckHolders.size() >= wait.permits()
				|| stuckHolders.stream().anyMatch((holder) -> !holder.grant().shared());
	}

	private List<HeldLease> stuckHolders(Wait wait) {
		return this.holders.getOrDefault(wait.key(), List.of())
			.stream()
			.filter((holder) -> next(holder) != null)
			.toList();
	}

	private @Nullable Wait next(Lease holder) {
		Wait wait = this.waitOfHolder.get(holder);
		return (wait != null && this.stuck.contains(wait)) ? wait : null;
	}

	private List<List<Wait>> cycles() {
		List<List<Wait>> cycles = new ArrayList<>();
		Set<Wait> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Wait start : this.stuck) {
			List<Wait> path = new ArrayList<>();
			Wait wait = start;
			while (wait != null && seen.add(wait)) {
				path.add(wait);
				List<HeldLease> holders = stuckHolders(wait);
				wait = holders.isEmpty() ? null : next(holders.get(0));
			}
			int begin = path.indexOf(wait);
			if (begin >= 0) {
				cycles.add(List.copyOf(path.subList(begin, path.size())));
			}
		}
		return cycles;
	}

}
