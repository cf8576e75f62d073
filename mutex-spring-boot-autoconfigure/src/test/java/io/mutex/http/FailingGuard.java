package io.mutex.http;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.fence.FenceGuard;

/**
 * A guard that throws.
 *
 * @param failure what it throws
 */
record FailingGuard(RuntimeException failure) implements FenceGuard {

	@Override
	public String name() {
		return "failing guard";
	}

	@Override
	public void register(Fence fence) {
		throw this.failure;
	}

	@Override
	public void revoke(String key, FencingToken token, String nonce) {
		throw this.failure;
	}

}
