package io.mutex.redis;

/**
 * The Redis provider through Lettuce.
 */
class LettuceLockProviderTests extends RedisContract {

	LettuceLockProviderTests() {
		super(RedisClient.LETTUCE);
	}

}
