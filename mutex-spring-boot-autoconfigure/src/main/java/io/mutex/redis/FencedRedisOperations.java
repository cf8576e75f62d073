package io.mutex.redis;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.redis.RedisScripts.Call;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Writes to Redis that are refused unless they belong to the latest holder of a resource:
 * the check and the write are one script.
 *
 * <pre class="code">
 * &#64;Fenced(key = "account:#{#id}")
 * void deposit(String id, long amount) {
 *   FencedResource account = fenced.on("account:" + id);
 *   String key = FencedRedisOperations.key("account:" + id, "balance");
 *   account.set(key, Long.toString(read(account.get(key)) + amount));
 * }
 * </pre>
 *
 * The lease of the call has been registered before its body began, so that the writes of
 * every earlier holder are refused from then on ({@code STRICT}). With {@code ON_WRITE} a
 * write registers it.
 * <p>
 * Only what is written through this class is checked. In a cluster the keys of a resource
 * have to lie in one slot, which {@link #key} sees to; elsewhere they may have any name.
 */
public final class FencedRedisOperations {

	private final Writer writer;

	/**
	 * Creates the operations.
	 * @param guard where the leases are registered
	 */
	public FencedRedisOperations(RedisFenceGuard guard) {
		this((resource, holder, script, keys, arguments) -> checked(guard, holder.get(), script, keys, arguments));
	}

	private FencedRedisOperations(Writer writer) {
		this.writer = writer;
	}

	/**
	 * Operations that nobody checks, for an application in which nothing is locked.
	 * @param connectionFactory where the connections come from
	 * @return the operations
	 */
	public static FencedRedisOperations unchecked(RedisConnectionFactory connectionFactory) {
		RedisScripts scripts = new RedisScripts(connectionFactory);
		return new FencedRedisOperations((resource, holder, script, keys, arguments) -> {
			Fence anybody = new Fence(resource, resource, new FencingToken(1), "", false);
			try {
				return FenceAnswers.result(anybody, "", scripts.ask(new Call(FenceScripts.unchecked(script),
						keys.stream().map(RedisKeys::bytes).toList(), arguments)));
			}
			catch (RuntimeException ex) {
				throw FenceAnswers.failure(anybody, ex);
			}
		});
	}

	private static @Nullable Object checked(RedisFenceGuard guard, Holder holder, String script, List<String> keys,
			List<String> arguments) {
		holder.lease().assertValid();
		try {
			return guard.work(holder.fence(), FenceScripts.around(script), keys, arguments);
		}
		catch (StaleFencingTokenException ex) {
			holder.lease().refused(ex);
			throw ex;
		}
	}

	/**
	 * The name of a key of a resource, in the slot of the resource.
	 * @param resource the resource
	 * @param suffix what tells the keys of the resource from each other
	 * @return <code>{resource}:suffix</code>, with the braces and percent signs of the
	 * resource escaped
	 */
	public static String key(String resource, String suffix) {
		return FenceKeys.tag(resource) + ":" + suffix;
	}

	/**
	 * A resource, for the innermost lease of the call that names it. The lease is looked
	 * up with each operation.
	 * @param resource the resource
	 * @return what writes to it
	 */
	public FencedResource on(String resource) {
		return resource(resource, () -> current(resource));
	}

	/**
	 * The resource of a lease: the only one it names, else the one named like its key.
	 * @param lease the lease
	 * @return what writes to it
	 */
	public FencedResource on(Lease lease) {
		List<Fence> fences = lease.fences();
		return on((fences.size() == 1) ? fences.get(0).resource() : lease.key(), lease);
	}

	/**
	 * A resource, for a lease. A lease that does not name the resource is refused unless
	 * it {@linkplain RedisFenceGuard#register was registered} there.
	 * @param resource the resource
	 * @param lease the lease
	 * @return what writes to it
	 */
	public FencedResource on(String resource, Lease lease) {
		Holder holder = new Holder(lease, fence(resource, lease).orElseGet(() -> Fence.of(resource, lease)));
		return resource(resource, () -> holder);
	}

	private FencedResource resource(String resource, Supplier<Holder> holder) {
		return new FencedResource(
				(script, keys, arguments) -> this.writer.write(resource, holder, script, keys, arguments));
	}

	private static Holder current(String resource) {
		List<Lease> leases = Leases.all();
		for (Lease lease : leases) {
			Optional<Fence> fence = fence(resource, lease);
			if (fence.isPresent()) {
				return new Holder(lease, fence.get());
			}
		}
		throw new MutexException(null, "nothing was written to resource '" + resource + "': " + (leases.isEmpty()
				? "this call holds no lease. Was the annotated method called on 'this' instead of on the"
						+ " bean, or the work moved to another thread?"
				: "this call holds " + leases.stream().map(FencedRedisOperations::describe).toList()
						+ ". Name the resource in @Fenced(resource = …), or let its fencing be other than NONE"));
	}

	private static Optional<Fence> fence(String resource, Lease lease) {
		return lease.fences().stream().filter((fence) -> fence.resource().equals(resource)).findFirst();
	}

	private static String describe(Lease lease) {
		List<String> resources = lease.fences().stream().map(Fence::resource).toList();
		return "key '" + lease.key() + "', fenced at " + (resources.isEmpty() ? "no resource" : resources);
	}

	/**
	 * Who may write.
	 *
	 * @param lease the lease
	 * @param fence its fence at the resource
	 */
	private record Holder(Lease lease, Fence fence) {

	}

	/**
	 * How a resource is written to.
	 */
	private interface Writer {

		@Nullable Object write(String resource, Supplier<Holder> holder, String script, List<String> keys,
				List<String> arguments);

	}

}
