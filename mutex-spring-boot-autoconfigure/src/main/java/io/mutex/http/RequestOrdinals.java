package io.mutex.http;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;

import io.mutex.Lease;

/**
 * Numbers the equal requests of each lease, so that two that are meant differ and one
 * that is tried again does not. A number is free again if its request got no answer, or
 * one that says that the server failed.
 */
final class RequestOrdinals {

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Lease, Map<String, BitSet>> taken = new WeakHashMap<>();

	/**
	 * Takes the lowest number that is free.
	 * @param lease the lease
	 * @param request what equal requests have in common
	 * @return the number, from 0
	 */
	int take(Lease lease, String request) {
		this.lock.lock();
		try {
			BitSet numbers = this.taken.computeIfAbsent(lease, (absent) -> new HashMap<>())
				.computeIfAbsent(request, (absent) -> new BitSet());
			int number = numbers.nextClearBit(0);
			numbers.set(number);
			return number;
		}
		finally {
			this.lock.unlock();
		}
	}

	void free(Lease lease, String request, int number) {
		this.lock.lock();
		try {
			Map<String, BitSet> requests = this.taken.get(lease);
			BitSet numbers = (requests != null) ? requests.get(request) : null;
			if (numbers != null) {
				numbers.clear(number);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
