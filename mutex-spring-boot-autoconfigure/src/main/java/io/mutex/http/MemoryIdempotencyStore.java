package io.mutex.http;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers answers in the memory of one process: a repeated request that reaches another
 * instance, or this one after a restart, is processed again.
 * <p>
 * Above its limit it forgets the oldest answers before their time, and says so once.
 */
public final class MemoryIdempotencyStore implements IdempotencyStore {

	private static final Logger logger = LoggerFactory.getLogger(MemoryIdempotencyStore.class);

	private static final int OVERHEAD = 512;

	private final ReentrantLock lock = new ReentrantLock();

	// in the order in which they were begun or completed
	private final Map<String, Entry> entries = new LinkedHashMap<>();

	private final long maxBytes;

	private final LongSupplier nanoTime;

	private long bytes;

	private boolean warned;

	/**
	 * Creates an empty store.
	 * @param maxBytes how much memory the answers may take, roughly
	 */
	public MemoryIdempotencyStore(long maxBytes) {
		this(maxBytes, System::nanoTime);
	}

	MemoryIdempotencyStore(long maxBytes, LongSupplier nanoTime) {
		this.maxBytes = maxBytes;
		this.nanoTime = nanoTime;
	}

	@Override
	public Answer begin(String key, String request, String claim, Duration ttl) {
		this.lock.lock();
		try {
			Entry entry = find(key);
			if (entry != null) {
				if (!entry.request().equals(request)) {
					return new Answer.Different();
				}
				return (entry.response() != null) ? new Answer.Completed(entry.response()) : new Answer.InProgress();
			}
			put(key, new Entry(request, claim, null, expiry(ttl)));
			return new Answer.Claimed();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void complete(String key, String claim, StoredResponse response, Duration ttl) {
		this.lock.lock();
		try {
			Entry entry = find(key);
			if (entry != null && entry.claim().equals(claim)) {
				remove(key);
				put(key, new Entry(entry.request(), claim, response, expiry(ttl)));
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void abandon(String key, String claim) {
		this.lock.lock();
		try {
			Entry entry = find(key);
			if (entry != null && entry.claim().equals(claim)) {
				remove(key);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	int size() {
		this.lock.lock();
		try {
			return this.entries.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private long expiry(Duration ttl) {
		return this.nanoTime.getAsLong() + ttl.toNanos();
	}

	private @Nullable Entry find(String key) {
		Entry entry = this.entries.get(key);
		if (entry != null && isExpired(entry)) {
			remove(key);
			return null;
		}
		return entry;
	}

	private boolean isExpired(Entry entry) {
		return entry.expiry() - this.nanoTime.getAsLong() <= 0;
	}

	private void remove(String key) {
		Entry entry = this.entries.remove(key);
		if (entry != null) {
			this.bytes -= weight(key, entry);
		}
	}

	private void put(String key, Entry entry) {
		this.entries.put(key, entry);
		this.bytes += weight(key, entry);
		Iterator<Map.Entry<String, Entry>> oldest = this.entries.entrySet().iterator();
		while (oldest.hasNext()) {
			Map.Entry<String, Entry> candidate = oldest.next();
			boolean expired = isExpired(candidate.getValue());
			if (!expired && this.bytes <= this.maxBytes) {
				return;
			}
			// what is being processed is never forgotten
			if (expired || (candidate.getValue().response() != null && !candidate.getKey().equals(key))) {
				oldest.remove();
				this.bytes -= weight(candidate.getKey(), candidate.getValue());
				warn(expired);
			}
		}
	}

	private void warn(boolean expired) {
		if (!expired && !this.warned) {
			this.warned = true;
			logger.warn("Answers to requests with an idempotency key are forgotten before their time, since they take "
					+ "more than {} bytes: such a request is processed again if it is repeated", this.maxBytes);
		}
	}

	private static int weight(String key, Entry entry) {
		StoredResponse response = entry.response();
		int weight = OVERHEAD + 2 * key.length();
		if (response != null) {
			weight += response.size();
			for (Map.Entry<String, List<String>> header : response.headers().entrySet()) {
				weight += 2 * header.getKey().length();
				for (String value : header.getValue()) {
					weight += 2 * value.length();
				}
			}
		}
		return weight;
	}

	/**
	 * What is known of a key.
	 *
	 * @param request the request
	 * @param claim who processes it
	 * @param response the answer, or {@code null} while it is being processed
	 * @param expiry when it is forgotten
	 */
	private record Entry(String request, String claim, @Nullable StoredResponse response, long expiry) {

	}

}
