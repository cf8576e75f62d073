package io.mutex.actuate.endpoint;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import io.mutex.HeldLock;
import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.LockProvider.ForcedRelease;
import io.mutex.engine.LockEngine;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * Shows the locks that all instances hold, from the store, and frees one by force when
 * the access to it is opened.
 */
@WebEndpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public class LocksEndpoint {

	/** How many locks one answer shows at most. */
	static final int LIMIT = 1000;

	private static final Logger logger = LoggerFactory.getLogger(LocksEndpoint.class);

	private final Supplier<LockProvider> provider;

	private final Supplier<@Nullable LockEngine> engine;

	private final Supplier<String> namespace;

	/**
	 * Creates the endpoint.
	 * @param provider gives the store
	 * @param engine gives the engine of this instance, or {@code null}
	 * @param namespace gives the namespace of the locks
	 */
	public LocksEndpoint(Supplier<LockProvider> provider, Supplier<@Nullable LockEngine> engine,
			Supplier<String> namespace) {
		this.provider = provider;
		this.engine = engine;
		this.namespace = namespace;
	}

	/**
	 * The locks held now, in all instances, at most 1000 of them.
	 * @return the locks
	 */
	@ReadOperation
	public LocksDescriptor locks() {
		LockProvider store = this.provider.get();
		return new LocksDescriptor(store.name(), this.namespace.get(),
				store.locks(LIMIT).stream().map(this::describe).toList());
	}

	/**
	 * The lock of one key.
	 * @param key the segments of the key, which may hold slashes
	 * @return the lock, or {@code null} if it is not held
	 */
	@ReadOperation
	public @Nullable LockDescriptor lock(@Selector(match = Match.ALL_REMAINING) String... key) {
		return this.provider.get().lock(String.join("/", key)).map(this::describe).orElse(null);
	}

	/**
	 * Frees a key whoever holds it. The work of its holder goes on: only a guard at the
	 * storage keeps it from writing.
	 * @param key the segments of the key, which may hold slashes
	 * @return 200 with what was done, 404 if nobody holds the key, 409 if only the end of
	 * the holder's process can free it
	 */
	@DeleteOperation
	public WebEndpointResponse<Map<String, Object>> release(@Selector(match = Match.ALL_REMAINING) String... key) {
		String joined = String.join("/", key);
		ForcedRelease release = this.provider.get().forceRelease(joined);
		HeldLock holder = release.holder();
		if (release.result() == ForcedRelease.Result.NOT_HELD || holder == null) {
			return new WebEndpointResponse<>(Map.of("key", joined, "result", "not held"),
					WebEndpointResponse.STATUS_NOT_FOUND);
		}
		if (release.result() == ForcedRelease.Result.REFUSED) {
			return new WebEndpointResponse<>(
					Map.of("key", joined, "result", "refused: the lock belongs to process " + holder.owner().pid()
							+ " on " + holder.owner().host() + " and ends with it", "pid", holder.owner().pid()),
					409);
		}
		logger.warn("Lock freed by force: key={} token={} provider={} was held by {} since {}; its work may go on",
				joined, holder.token(), this.provider.get().name(), holder.owner(), holder.acquiredAt());
		return new WebEndpointResponse<>(
				Map.of("key", joined, "result", "freed", "token", holder.token(), "guards", guards(joined, release)));
	}

	// where nobody refuses the former holder, people have to know
	private Object guards(String key, ForcedRelease release) {
		LockEngine local = this.engine.get();
		List<String> told = (local != null && release.token() != null) ? local.revoke(key, release.token()) : List.of();
		return told.isEmpty() ? "none: the work of the former holder may still write" : told;
	}

	private LockDescriptor describe(HeldLock lock) {
		LockEngine local = this.engine.get();
		Optional<Lease> lease = (local != null)
				? local.leases().stream().filter((candidate) -> candidate.nonce().equals(lock.nonce())).findAny()
				: Optional.empty();
		return new LockDescriptor(lock.key(), lock.name(), lock.owner(), lock.token(), lock.unit(), lock.acquiredAt(),
				lock.expiresAt(), lock.heldFor().toString(), lease.isPresent(),
				(local != null) ? local.waiting(lock.key()) : 0);
	}

	/**
	 * The locks of a namespace.
	 *
	 * @param provider the name of the store
	 * @param namespace the namespace
	 * @param locks the held locks
	 */
	public record LocksDescriptor(String provider, String namespace, List<LockDescriptor> locks) {

	}

	/**
	 * A held lock.
	 *
	 * @param key the key
	 * @param name the declared text of the key
	 * @param owner who holds it
	 * @param token the fencing token
	 * @param unit the unit whose run holds it, or {@code null}
	 * @param acquiredAt when it was granted, by the store's clock
	 * @param expiresAt when its lease ends, or {@code null} if it ends with the process
	 * @param heldFor the time since the grant, as an ISO-8601 duration
	 * @param local whether this instance holds it
	 * @param waiters how many threads of this instance wait for it
	 */
	public record LockDescriptor(String key, String name, Owner owner, long token, @Nullable String unit,
			Instant acquiredAt, @Nullable Instant expiresAt, String heldFor, boolean local, int waiters) {

	}

}
