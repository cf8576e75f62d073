package io.mutex.lab;

import io.mutex.testing.TestServer;

/**
 * What can happen to Redis.
 */
final class RedisFaults {

	private static final long LEASE = Provider.LEASE.toMillis();

	private RedisFaults() {
	}

	static void forget(Field field) {
		field.fault("R1", field.server()::kill, 100, field.server()::start);
		field.sleep(2 * LEASE);
	}

	static void rollBack(Field field) {
		field.fault("R7", () -> {
			Admin.redis(field.server(), "SAVE");
			field.sleep(700);
			field.server().kill();
		}, 100, field.server()::start);
		field.sleep(2 * LEASE);
	}

	static void evict(Field field) {
		TestServer redis = field.server();
		long before = Admin.evicted(redis);
		field.fault("R5", () -> limit(redis, "volatile-lru"), 100, () -> unlimited(redis));
		field.hit(Admin.evicted(redis) - before);
	}

	static void fill(Field field) {
		field.fault("R6", () -> limit(field.server(), "noeviction"), LEASE + 500, () -> unlimited(field.server()));
	}

	private static void limit(TestServer redis, String policy) {
		Admin.redis(redis, "CONFIG SET maxmemory-policy " + policy);
		Admin.redis(redis, "CONFIG SET maxmemory 1");
	}

	private static void unlimited(TestServer redis) {
		Admin.redis(redis, "CONFIG SET maxmemory 0");
	}

	static void stop(Field field) {
		field.fault("R9", field.server()::pause, 2 * LEASE, field.server()::resume);
	}

	static void flushScripts(Field field) {
		field.fault("R12", () -> field.hit("+OK".equals(Admin.redis(field.server(), "SCRIPT FLUSH")) ? 1 : 0), 100,
				() -> {
				});
	}

}
