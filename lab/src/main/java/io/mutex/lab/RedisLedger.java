package io.mutex.lab;

import java.util.List;
import java.util.function.LongConsumer;

import io.mutex.Lease;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.FencedResource;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A ledger in one value of Redis for each key, written by a checked command.
 */
public final class RedisLedger implements Ledger {

	private final FencedRedisOperations fenced;

	private final StringRedisTemplate plain;

	/**
	 * Creates a ledger.
	 * @param fenced writes to it
	 * @param plain reads it
	 */
	public RedisLedger(FencedRedisOperations fenced, StringRedisTemplate plain) {
		this.fenced = fenced;
		this.plain = plain;
	}

	@Override
	public void add(Lease lease, LongConsumer reading) {
		FencedResource resource = this.fenced.on(lease);
		String name = name(lease.key());
		String text = resource.get(name);
		long next = parse(lease.key(), text).size() + 1L;
		reading.accept(next);
		Entry entry = new Entry(lease.key(), next, lease.token().value(), lease.nonce());
		resource.set(name, ((text != null) ? text : "") + entry.format());
	}

	@Override
	public void force(Lease lease, long number) {
		String name = name(lease.key());
		String text = this.plain.opsForValue().get(name);
		Entry entry = new Entry(lease.key(), number, lease.token().value(), lease.nonce());
		this.fenced.on(new Unsuspecting(lease))
			.set(name, Entry.before(number, (text != null) ? text : "") + entry.format());
	}

	@Override
	public List<Entry> entries(String key) {
		return parse(key, this.plain.opsForValue().get(name(key)));
	}

	private static List<Entry> parse(String key, @Nullable String text) {
		return Entry.parse(key, (text != null) ? text : "");
	}

	private static String name(String key) {
		return "lab:ledger:" + key;
	}

}
