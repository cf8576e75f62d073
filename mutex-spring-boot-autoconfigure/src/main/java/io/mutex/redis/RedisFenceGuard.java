package io.mutex.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.FenceGuard;
import io.mutex.redis.RedisScripts.Call;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Guards resources in Redis 6.2 or later, or Valkey. What is written through
 * {@link FencedRedisOperations} is checked in the script that writes it. Nothing is sent
 * before the first registration.
 * <p>
 * What the guard knows of a resource is kept for a time that each registration and each
 * write begins anew. Where it is gone, be it by that time or with the data of the server,
 * strict writes of every grant are refused until the next one is registered; the tokens
 * of later grants are higher all the same, since they are made of the time. An earlier
 * grant could only come back if its registration were under way for longer than that
 * time, or across the loss.
 */
public final class RedisFenceGuard implements FenceGuard {

	private final RedisScripts scripts;

	private final FenceKeys keys;

	private final String retention;

	/**
	 * Creates a guard.
	 * @param connectionFactory where the connections come from; it stays the caller's
	 * @param namespace that of the locks
	 * @param settings how the data is kept
	 * @param retention how long a resource is remembered after the last registration or
	 * write; longer than any work goes on between two of its writes
	 */
	public RedisFenceGuard(RedisConnectionFactory connectionFactory, String namespace, RedisSettings settings,
			Duration retention) {
		if (namespace.isBlank()) {
			throw new IllegalArgumentException("the namespace must not be blank");
		}
		if (retention.toMillis() < 1) {
			throw new IllegalArgumentException("the retention must be a millisecond or more, but was " + retention);
		}
		this.scripts = new RedisScripts(connectionFactory);
		this.keys = new FenceKeys(settings.keyPrefix(), namespace);
		this.retention = Long.toString(retention.toMillis());
	}

	@Override
	public String name() {
		return "redis";
	}

	@Override
	public void register(Fence fence) {
		remember(fence);
		ask(fence, FenceScripts.REGISTER, List.of(), List.of());
	}

	@Override
	public void revoke(String key, FencingToken token, String nonce) {
		Set<String> resources = new TreeSet<>(index(key));
		resources.add(key);
		StaleFencingTokenException refusal = null;
		for (String resource : resources) {
			try {
				ask(new Fence(resource, key, token, nonce, true), FenceScripts.REGISTER, List.of(), List.of());
			}
			catch (StaleFencingTokenException ex) {
				refusal = ex;
			}
		}
		if (refusal != null) {
			throw refusal;
		}
	}

	@Override
	public void check() {
		index("check");
	}

	/**
	 * Checks a grant and works in one step.
	 * @param fence the grant and the resource
	 * @param script a script with the check before it
	 * @param keys its keys, in the slot of the resource
	 * @param arguments its arguments
	 * @return what it gave
	 */
	@Nullable Object work(Fence fence, ScriptText script, List<String> keys, List<String> arguments) {
		if (!fence.strict()) {
			remember(fence);
		}
		return ask(fence, script, keys, arguments);
	}

	private @Nullable Object ask(Fence fence, ScriptText script, List<String> keys, List<String> arguments) {
		List<String> names = Stream.concat(Stream.of(this.keys.guard(fence.resource())), keys.stream()).toList();
		List<String> all = new ArrayList<>(List.of(fence.key(), fence.token().toString(), fence.nonce(),
				fence.strict() ? "1" : "0", this.retention));
		all.addAll(arguments);
		List<?> answer;
		try {
			answer = this.scripts.ask(new Call(script, names.stream().map(RedisKeys::bytes).toList(), all));
		}
		catch (RuntimeException ex) {
			throw FenceAnswers.failure(fence, ex);
		}
		return FenceAnswers.result(fence, names.get(0), answer);
	}

	// Known before it is registered, so that a revocation misses none.
	private void remember(Fence fence) {
		if (!fence.resource().equals(fence.key())) {
			index(fence.key(), this.retention, fence.resource());
		}
	}

	private List<String> index(String key, String... arguments) {
		return this.scripts.run(key, List.of(new Call(FenceScripts.RESOURCES,
				List.of(RedisKeys.bytes(this.keys.resources(key))), List.of(arguments))))
			.get(0);
	}

}
