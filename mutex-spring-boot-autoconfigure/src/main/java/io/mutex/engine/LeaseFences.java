package io.mutex.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.mutex.Fence;
import io.mutex.StaleFencingTokenException;

/**
 * What the guards know a lease by, one fence for each resource.
 *
 * @param guards the guards
 * @param fences the fences
 */
record LeaseFences(Guards guards, List<Fence> fences) {

	LeaseFences(Guards guards) {
		this(guards, new CopyOnWriteArrayList<>());
	}

	boolean contain(Fence fence) {
		return this.fences.stream()
			.anyMatch((known) -> known.resource().equals(fence.resource()) && (known.strict() || !fence.strict()));
	}

	void put(Fence fence) {
		this.fences.removeIf((known) -> known.resource().equals(fence.resource()));
		this.fences.add(fence);
	}

	void refused(HeldLease lease, StaleFencingTokenException refusal) {
		this.guards.refused(lease, refusal);
	}

}
