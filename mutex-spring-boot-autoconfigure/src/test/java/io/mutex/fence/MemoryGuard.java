package io.mutex.fence;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.MutexException;
import io.mutex.StaleFencingTokenException;
import org.jspecify.annotations.Nullable;

/**
 * A guard for tests, by the rules of {@link FenceGuard}.
 */
public class MemoryGuard implements FenceGuard {

	private final Map<String, Fence> accepted = new ConcurrentHashMap<>();

	@Override
	public String name() {
		return "memory guard";
	}

	@Override
	public void register(Fence fence) {
		this.accepted.compute(fence.resource(), (resource, last) -> {
			if (last != null && !last.key().equals(fence.key())) {
				throw new MutexException(fence.key(), "resource '" + resource + "' belongs to key '" + last.key()
						+ "', not to '" + fence.key() + "'");
			}
			if (last != null && !fence.follows(last.token().value(), last.nonce())) {
				throw new StaleFencingTokenException(resource, fence.token(), last.token());
			}
			return fence;
		});
	}

	@Override
	public void revoke(String key, FencingToken token, String nonce) {
		register(new Fence(key, key, token, nonce, true));
	}

	/**
	 * What a resource has accepted.
	 * @param resource the resource
	 * @return the fence, or {@code null}
	 */
	public @Nullable Fence accepted(String resource) {
		return this.accepted.get(resource);
	}

}
