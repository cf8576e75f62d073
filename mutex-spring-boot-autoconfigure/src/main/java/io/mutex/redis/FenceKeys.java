package io.mutex.redis;

/**
 * The names of the keys of the guard: {@code <prefix>:{<resource>}:fence:<namespace>}.
 * The part in braces decides the slot in a cluster, so that what belongs to the resource
 * can be on its node.
 */
final class FenceKeys {

	private final String prefix;

	private final String namespace;

	FenceKeys(String keyPrefix, String namespace) {
		this.prefix = keyPrefix + ":";
		this.namespace = namespace;
	}

	String guard(String resource) {
		return this.prefix + tag(resource) + ":fence:" + this.namespace;
	}

	String resources(String key) {
		return this.prefix + tag(key) + ":fenced:" + this.namespace;
	}

	/**
	 * What a key carries in order to be in the slot of a resource.
	 * @param resource the resource
	 * @return its name in braces
	 */
	static String tag(String resource) {
		return "{" + RedisKeys.escape(resource) + "}";
	}

}
