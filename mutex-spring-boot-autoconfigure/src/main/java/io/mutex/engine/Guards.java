package io.mutex.engine;

import java.util.ArrayList;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingPolicy;
import io.mutex.FencingToken;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.FenceGuard;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The guards at the storages that protected work writes to.
 */
final class Guards {

	private static final Logger logger = LoggerFactory.getLogger(Guards.class);

	private final EngineListeners listeners;

	private final LockProvider provider;

	private volatile List<FenceGuard> guards = List.of();

	Guards(EngineListeners listeners, LockProvider provider) {
		this.listeners = listeners;
		this.provider = provider;
	}

	void use(List<FenceGuard> guards) {
		this.guards = List.copyOf(guards);
	}

	// the store whose grants they tell from one another
	LockProvider provider() {
		return this.provider;
	}

	List<FenceGuard> all() {
		return this.guards;
	}

	/**
	 * Whether a guard tells one grant of a key from another.
	 * @param policy the policy of the grants
	 * @return {@code false} if nobody but the store has to know who holds the key
	 */
	boolean cover(FencingPolicy policy) {
		return policy.mode() != FencingPolicy.Mode.NONE && !this.guards.isEmpty();
	}

	/**
	 * Fences a lease, and registers it at each guard if the policy is strict.
	 * @param lease the lease
	 * @param policy the policy
	 * @throws StaleFencingTokenException if a guard has accepted a later grant
	 * @throws io.mutex.MutexException if a guard refused for another reason, or did not
	 * answer
	 */
	void register(HeldLease lease, FencingPolicy policy) {
		if (policy.mode() == FencingPolicy.Mode.NONE) {
			return;
		}
		String resource = (policy.resource() != null) ? policy.resource() : lease.key();
		boolean strict = policy.mode() == FencingPolicy.Mode.STRICT;
		FencingToken token = this.guards.isEmpty() ? lease.token() : lease.pin();
		Fence fence = new Fence(resource, lease.key(), token, lease.nonce(), strict);
		if (!lease.fenced().contain(fence)) {
			if (strict) {
				registerAtEach(lease, fence);
			}
			lease.fenced().put(fence);
		}
	}

	// each is asked, so that the highest token is known at once
	private void registerAtEach(HeldLease lease, Fence fence) {
		StaleFencingTokenException highest = null;
		for (FenceGuard guard : this.guards) {
			try {
				guard.register(fence);
			}
			catch (StaleFencingTokenException ex) {
				highest = (highest == null || ex.getAccepted().compareTo(highest.getAccepted()) > 0) ? ex : highest;
			}
		}
		if (highest != null) {
			refused(lease, highest);
			throw highest;
		}
	}

	void refused(HeldLease lease, StaleFencingTokenException refusal) {
		logger.warn("key={} token={} provider={} refused: resource '{}' has accepted {}", lease.key(), lease.token(),
				this.provider.name(), refusal.getResource(), refusal.getAccepted());
		this.listeners.refused(lease, refusal);
	}

	/**
	 * Refuses every grant of a key so far at each guard.
	 * @param key the key
	 * @param token higher than the tokens of those grants
	 * @param nonce a nonce that nobody else has
	 * @return the names of the guards that do
	 */
	List<String> revoke(String key, FencingToken token, String nonce) {
		List<String> told = new ArrayList<>();
		for (FenceGuard guard : this.guards) {
			try {
				guard.revoke(key, token, nonce);
				told.add(guard.name());
			}
			catch (StaleFencingTokenException ex) {
				// a later grant is registered already
				told.add(guard.name());
			}
			catch (MutexException ex) {
				logger.warn("key={} token={} was freed by force, but guard {} did not answer, and may accept its "
						+ "former holder", key, token, guard.name(), ex);
			}
		}
		return told;
	}

}
