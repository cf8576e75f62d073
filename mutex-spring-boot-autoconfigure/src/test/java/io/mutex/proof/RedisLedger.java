package io.mutex.proof;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.mutex.Lease;
import io.mutex.redis.FencedRedisOperations;
import io.mutex.redis.FencedResource;
import io.mutex.redis.RedisFenceGuard;
import io.mutex.redis.RedisSettings;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A ledger whose keys are values in Redis.
 */
final class RedisLedger implements Ledger {

	private final LettuceConnectionFactory connections;

	private final StringRedisTemplate plain;

	private final RedisFenceGuard guard;

	private final FencedRedisOperations fenced;

	private final String prefix;

	RedisLedger(String address, String namespace) {
		this.connections = Store.connections(address);
		this.plain = new StringRedisTemplate(this.connections);
		this.guard = new RedisFenceGuard(this.connections, namespace, RedisSettings.defaults(), Duration.ofDays(1));
		this.fenced = new FencedRedisOperations(this.guard);
		this.prefix = namespace + ":ledger:";
	}

	RedisFenceGuard guard() {
		return this.guard;
	}

	@Override
	public void add(Lease lease, Consumer<Place> passing) {
		String key = this.prefix + lease.key();
		boolean checked = !lease.fences().isEmpty();
		FencedResource resource = this.fenced.on(lease);
		List<Line> lines = checked ? parse(resource.get(key)) : lines(lease.key());
		passing.accept(Place.AFTER_READ);
		String text = Line.format(lines, Line.next(lines, lease));
		if (checked) {
			this.fenced.on(new WatchedLease(lease, () -> passing.accept(Place.BEFORE_COMMIT))).set(key, text);
		}
		else {
			passing.accept(Place.BEFORE_COMMIT);
			this.plain.opsForValue().set(key, text);
		}
	}

	@Override
	public List<Line> lines(String key) {
		return parse(this.plain.opsForValue().get(this.prefix + key));
	}

	private static List<Line> parse(String text) {
		return Line.parse((text != null) ? text : "");
	}

	@Override
	public void close() {
		this.connections.destroy();
	}

}
