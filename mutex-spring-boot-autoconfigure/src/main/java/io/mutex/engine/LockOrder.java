package io.mutex.engine;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * In which orders keys have been taken while others were held, as Linux's lockdep does it
 * for classes of locks: by declared name, and by key where both have the same name. Knows
 * the pairs that were used last, up to a limit.
 */
final class LockOrder {

	private final int limit;

	private final Map<Pair, Taken> pairs;

	LockOrder(int limit) {
		this.limit = limit;
		this.pairs = new LinkedHashMap<>(16, 0.75f, true) {

			private static final long serialVersionUID = 1L;

			@Override
			protected boolean removeEldestEntry(Map.Entry<Pair, Taken> eldest) {
				return size() > LockOrder.this.limit;
			}

		};
	}

	/**
	 * Remembers that a key was taken while another was held.
	 * @param taken the two keys
	 * @return how they were taken in the opposite order before, or {@code null} if they
	 * were not, or that was returned before
	 */
	@Nullable Taken add(Taken taken) {
		if (this.pairs.putIfAbsent(taken.pair(), taken) != null) {
			return null;
		}
		return this.pairs.get(taken.pair().reversed());
	}

	/**
	 * A key taken while another was held.
	 *
	 * @param outerName the declared text of the key that was held
	 * @param outerKey the key that was held
	 * @param name the declared text of the key that was taken
	 * @param key the key that was taken
	 * @param thread the thread that took it
	 */
	record Taken(String outerName, String outerKey, String name, String key, String thread) {

		private Pair pair() {
			return this.outerName.equals(this.name) ? new Pair(this.outerKey, this.key)
					: new Pair(this.outerName, this.name);
		}

		@Override
		public String toString() {
			return "thread '" + this.thread + "' took '" + this.key + "' while it held '" + this.outerKey + "'";
		}

	}

	private record Pair(String outer, String inner) {

		private Pair reversed() {
			return new Pair(this.inner, this.outer);
		}

	}

}
