package io.mutex.redis;

import java.util.Locale;

import io.mutex.MutexException;
import org.jspecify.annotations.Nullable;

/**
 * What failures of Redis mean, and what to do about them.
 */
final class RedisFailures {

	private RedisFailures() {
	}

	static MutexException translate(@Nullable String key, RuntimeException ex) {
		if (ex instanceof MutexException failure) {
			return failure;
		}
		String text = texts(ex);
		return new MutexException(key, "redis did not answer" + ((key != null) ? " for key '" + key + "'" : "") + ": "
				+ remedy(text) + " (" + text.strip() + ")", ex);
	}

	static boolean isUnknownScript(RuntimeException ex) {
		return texts(ex).contains("NOSCRIPT");
	}

	/**
	 * Whether a command was refused as such: by an access rule, or because it was renamed
	 * or does not exist.
	 * @param text what the server said
	 * @return whether allowing the command helps
	 */
	static boolean isRefusal(String text) {
		String lower = text.toLowerCase(Locale.ROOT);
		return lower.contains("noperm") || lower.contains("unknown command") || lower.contains("unknown redis command")
				|| lower.contains("acl failure") || lower.contains("the user executing the script");
	}

	static boolean isSeveralSlots(String text) {
		String lower = text.toLowerCase(Locale.ROOT);
		return lower.contains("crossslot") || lower.contains("different slots") || lower.contains("same slot")
				|| lower.contains("same hashslot");
	}

	/**
	 * Whether the server has said no, and did not just fail to answer.
	 * @param ex the failure
	 * @return {@code true} for an error of the server; the classes of the clients are
	 * known by their names, since either may be missing
	 */
	static boolean isAnswer(Throwable ex) {
		Throwable cause = ex;
		for (int depth = 0; cause != null && depth < 10; depth++) {
			for (Class<?> type = cause.getClass(); type != null; type = type.getSuperclass()) {
				if (type.getName().equals("io.lettuce.core.RedisCommandExecutionException")
						|| type.getName().equals("redis.clients.jedis.exceptions.JedisDataException")) {
					return true;
				}
			}
			cause = cause.getCause();
		}
		return false;
	}

	static String texts(Throwable ex) {
		StringBuilder texts = new StringBuilder();
		Throwable cause = ex;
		for (int depth = 0; cause != null && depth < 10; depth++) {
			String message = String.valueOf(cause.getMessage());
			if (texts.indexOf(message) < 0) {
				texts.append((depth > 0) ? "; " : "").append(message);
			}
			cause = cause.getCause();
		}
		return texts.toString();
	}

	static String remedy(String text) {
		if (isRefusal(text)) {
			return "it refuses a command; the user of the connection needs every command that"
					+ " LockProvider.check() tries, on the keys with the prefix mutex.redis.key-prefix";
		}
		if (text.contains("OOM ")) {
			return "its memory is full; raise maxmemory or free memory, nothing was acquired";
		}
		if (text.contains("READONLY")) {
			return "the connection leads to a replica, which takes no writes; connect to the master";
		}
		if (text.contains("CLUSTERDOWN") || text.contains("TRYAGAIN")) {
			return "its cluster is moving this slot or has lost a node; ask again, and look at CLUSTER INFO";
		}
		if (text.contains("MISCONF") || text.contains("NOREPLICAS")) {
			return "it takes no writes, because it cannot persist or replicate them; look at its log";
		}
		if (text.contains("WRONGTYPE")) {
			return "a key of another program stands in the way; choose another mutex.redis.key-prefix";
		}
		return "is it up and reachable at spring.data.redis.*, and is its load low enough for the time-out?";
	}

}
