package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The names of the keys in Redis: {@code <prefix>:{<namespace>:<bucket>}:<kind>:<key>}.
 * The part in braces decides the slot in a cluster, so that all keys of a lock, and all
 * locks of a bucket, are on one node. The lock's key stands last and is not escaped:
 * braces in it mean nothing, since those of the bucket come first.
 * <p>
 * Buckets and names are a stored format: changing them forgets every lock and record.
 */
final class RedisKeys {

	/**
	 * The number of buckets. A power of two.
	 */
	static final int BUCKETS = 16;

	private final String prefix;

	private final String[] bucketPrefixes = new String[BUCKETS];

	RedisKeys(String keyPrefix, String namespace) {
		this.prefix = keyPrefix + ":{" + escape(namespace) + ":";
		Arrays.setAll(this.bucketPrefixes, (bucket) -> this.prefix + bucket + "}:");
	}

	/**
	 * The bucket of a key: the CRC-32 of its UTF-8 bytes, modulo {@value #BUCKETS}.
	 * @param key the lock's key
	 * @return its bucket
	 */
	static int bucket(String key) {
		CRC32 crc = new CRC32();
		crc.update(bytes(key));
		return (int) (crc.getValue() % BUCKETS);
	}

	/**
	 * All keys of a lock, in the order in which the scripts want them.
	 * @param key the lock's key
	 * @return lock, held, runs, order and shared
	 */
	List<byte[]> all(String key) {
		String bucket = this.bucketPrefixes[bucket(key)];
		return List.of(bytes(bucket + "lock:" + key), bytes(bucket + "held"), bytes(bucket + "runs:" + key),
				bytes(bucket + "order:" + key), bytes(bucket + "shared:" + key));
	}

	byte[] lock(String key) {
		return bytes(this.bucketPrefixes[bucket(key)] + "lock:" + key);
	}

	byte[] held(int bucket) {
		return bytes(this.bucketPrefixes[bucket] + "held");
	}

	byte[] runs(String key) {
		return bytes(this.bucketPrefixes[bucket(key)] + "runs:" + key);
	}

	byte[] order(String key) {
		return bytes(this.bucketPrefixes[bucket(key)] + "order:" + key);
	}

	byte[] shared(String key) {
		return bytes(this.bucketPrefixes[bucket(key)] + "shared:" + key);
	}

	/**
	 * The channel on which a waiter is told of keys whose next holder it is.
	 * @param waiter who waits
	 * @return the channel, the same for all buckets
	 */
	String channel(String waiter) {
		return this.prefix + "next}:" + waiter;
	}

	byte[] probe(int bucket, String kind) {
		return bytes(this.bucketPrefixes[bucket] + "probe:" + kind);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static String escape(String text) {
		return text.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
	}

}
