package io.mutex.redis;

/**
 * The Redis provider through Jedis.
 */
class JedisLockProviderTests extends RedisContract {

	JedisLockProviderTests() {
		super(RedisClient.JEDIS);
	}

}
