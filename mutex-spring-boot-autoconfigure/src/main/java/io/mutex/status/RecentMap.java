package io.mutex.status;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that forgets what was used the longest time ago.
 *
 * @param <V> the type of the values
 */
final class RecentMap<V> extends LinkedHashMap<String, V> {

	private static final long serialVersionUID = 1L;

	private final int limit;

	RecentMap(int limit) {
		super(16, 0.75f, true);
		this.limit = limit;
	}

	@Override
	protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
		return size() > this.limit;
	}

}
