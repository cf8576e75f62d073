package io.mutex.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A guarded resource and the lease that may write to it. Texts are UTF-8.
 * <p>
 * Every operation throws
 * <ul>
 * <li>{@link io.mutex.LeaseLostException}, without asking the server, if the lease is
 * lost</li>
 * <li>{@link io.mutex.StaleFencingTokenException} if the resource has accepted a later
 * grant; nothing was written</li>
 * <li>{@link io.mutex.MutexException} if the call holds no lease that names the resource,
 * if the resource belongs to another key, or if the guard does not know the grant, all
 * without a write; also if the server refused the operation, or did not answer. Then it
 * may or may not have been done, and may still be done while no later grant is
 * registered. A client that sends again what was not answered may do it twice</li>
 * </ul>
 */
public final class FencedResource {

	private final Work work;

	FencedResource(Work work) {
		this.work = work;
	}

	/**
	 * Reads a value, if this lease is the registered one: no other holder has written or
	 * will write in between.
	 * @param key the key
	 * @return the value, or {@code null} if there is none
	 */
	public @Nullable String get(String key) {
		return (String) command("GET", key);
	}

	/**
	 * Reads a field of a hash, as {@link #get(String)} does.
	 * @param key the key of the hash
	 * @param field the field
	 * @return the value, or {@code null} if there is none
	 */
	public @Nullable String get(String key, String field) {
		return (String) command("HGET", key, field);
	}

	/**
	 * Sets a value, which then has no end.
	 * @param key the key
	 * @param value the value
	 */
	public void set(String key, String value) {
		command("SET", key, value);
	}

	/**
	 * Sets a value that ends by itself.
	 * @param key the key
	 * @param value the value
	 * @param timeToLive when, at least a millisecond
	 */
	public void set(String key, String value, Duration timeToLive) {
		command("SET", key, value, "PX", Long.toString(timeToLive.toMillis()));
	}

	/**
	 * Sets a field of a hash.
	 * @param key the key of the hash
	 * @param field the field
	 * @param value the value
	 */
	public void put(String key, String field, String value) {
		command("HSET", key, field, value);
	}

	/**
	 * Adds to the number that is the value of a key, 0 if there is none.
	 * @param key the key
	 * @param delta what to add
	 * @return the sum
	 */
	public long increment(String key, long delta) {
		return number(command("INCRBY", key, Long.toString(delta)));
	}

	/**
	 * Puts a value before the first of a list.
	 * @param key the key of the list
	 * @param value the value
	 * @return the length of the list
	 */
	public long leftPush(String key, String value) {
		return number(command("LPUSH", key, value));
	}

	/**
	 * Puts a value behind the last of a list.
	 * @param key the key of the list
	 * @param value the value
	 * @return the length of the list
	 */
	public long rightPush(String key, String value) {
		return number(command("RPUSH", key, value));
	}

	/**
	 * Deletes a key of any kind.
	 * @param key the key
	 * @return whether it was there
	 */
	public boolean delete(String key) {
		return number(command("DEL", key)) > 0;
	}

	/**
	 * Runs a script. It is run as a function behind the check, in the same step, and sees
	 * its own keys and arguments in {@code KEYS} and {@code ARGV}. As in any script, what
	 * it has written before an error stays, and a number that it returns loses its
	 * fraction. It must not begin with {@code #!}.
	 * @param script the text
	 * @param keys all keys that it touches
	 * @param arguments its arguments
	 * @return what it returns: a {@link String}, a {@link Long}, a {@link List} of such,
	 * or {@code null}
	 * @throws io.mutex.MutexException also if the script fails, with what the server says
	 */
	public @Nullable Object execute(String script, List<String> keys, String... arguments) {
		return this.work.run(script, keys, List.of(arguments));
	}

	private @Nullable Object command(String name, String key, String... rest) {
		List<String> arguments = new ArrayList<>(List.of(name));
		arguments.addAll(List.of(rest));
		return this.work.run(FenceScripts.COMMAND, List.of(key), arguments);
	}

	private static long number(@Nullable Object answer) {
		if (answer instanceof Long number) {
			return number;
		}
		throw new IllegalStateException("a command answered " + answer + " in place of a number");
	}

	/**
	 * How a script is run.
	 */
	interface Work {

		/**
		 * Runs a script, if it may be.
		 * @param script its text
		 * @param keys its keys
		 * @param arguments its arguments
		 * @return what it returns
		 */
		@Nullable Object run(String script, List<String> keys, List<String> arguments);

	}

}
