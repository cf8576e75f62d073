package io.mutex.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts, always on the master of their slot. A script that the server does not
 * know is sent in full.
 */
final class RedisScripts implements AutoCloseable {

	/**
	 * From how many scripts on a pipeline is worth its connection.
	 */
	private static final int PIPELINE = 4;

	private final RedisConnectionFactory connectionFactory;

	private final OwnConnection own;

	RedisScripts(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
		this.own = new OwnConnection(connectionFactory);
	}

	/**
	 * Runs one script.
	 * @param key the key it is about, if it is one
	 * @param script the script
	 * @param keys the keys it touches, all in one slot
	 * @param arguments its arguments
	 * @return its answer, a list of strings with every client
	 */
	List<String> run(@Nullable String key, RedisScript script, List<byte[]> keys, String... arguments) {
		Call call = new Call(script, keys, Arrays.asList(arguments));
		return withConnection(key, (connection) -> run(connection, call));
	}

	/**
	 * Runs one script and leaves its answer, and its failure, as they are.
	 * @param call the script
	 * @return the answer, which is a list
	 */
	List<?> ask(Call call) {
		RedisConnection connection = this.connectionFactory.getConnection();
		try {
			return list(answer(connection, call));
		}
		finally {
			connection.close();
		}
	}

	/**
	 * Runs several scripts, each atomic by itself.
	 * @param key the key they are about, if it is one
	 * @param calls the scripts
	 * @return the answers, in the same order
	 */
	List<List<String>> run(@Nullable String key, List<Call> calls) {
		return withConnection(key, (connection) -> {
			if (calls.size() > PIPELINE && isPipelineOpened(connection)) {
				return pipelined(connection, calls);
			}
			return calls.stream().map((call) -> run(connection, call)).toList();
		});
	}

	/**
	 * Runs several scripts on a connection that does nothing else. They are repeated if
	 * it fails.
	 * @param calls the scripts
	 * @return the answers, in the same order
	 */
	List<List<String>> runApart(List<Call> calls) {
		try {
			// With Lettuce, one is a connection's own on a pipeline only.
			return this.own.use((connection) -> isPipelineOpened(connection) ? pipelined(connection, calls)
					: calls.stream().map((call) -> run(connection, call)).toList());
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate(null, ex);
		}
	}

	@Override
	public void close() {
		this.own.close();
	}

	<T> T withConnection(@Nullable String key, Function<RedisConnection, T> action) {
		try {
			RedisConnection connection = this.connectionFactory.getConnection();
			try {
				return action.apply(connection);
			}
			finally {
				connection.close();
			}
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate(key, ex);
		}
	}

	private static boolean isPipelineOpened(RedisConnection connection) {
		try {
			connection.openPipeline();
			return true;
		}
		catch (InvalidDataAccessApiUsageException ex) {
			// Jedis has none for a cluster.
			return false;
		}
	}

	private static List<List<String>> pipelined(RedisConnection connection, List<Call> calls) {
		try {
			calls.forEach((call) -> call.bySha(connection));
			return connection.closePipeline().stream().map(RedisScripts::strings).toList();
		}
		catch (RuntimeException ex) {
			if (connection.isPipelined()) {
				connection.closePipeline();
			}
			if (!RedisFailures.isUnknownScript(ex)) {
				throw ex;
			}
			return calls.stream().map((call) -> run(connection, call)).toList();
		}
	}

	private static List<String> run(RedisConnection connection, Call call) {
		return strings(answer(connection, call));
	}

	private static @Nullable Object answer(RedisConnection connection, Call call) {
		try {
			return call.bySha(connection);
		}
		catch (RuntimeException ex) {
			if (!RedisFailures.isUnknownScript(ex)) {
				throw ex;
			}
			return call.byText(connection);
		}
	}

	private static List<?> list(@Nullable Object answer) {
		if (answer instanceof List<?> values) {
			return values;
		}
		throw new IllegalStateException("a script answered " + answer + " in place of a list");
	}

	static List<String> strings(@Nullable Object answer) {
		List<?> values = list(answer);
		List<String> strings = new ArrayList<>(values.size());
		for (Object value : values) {
			strings.add((value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8)
					: String.valueOf(value));
		}
		return strings;
	}

	/**
	 * One run of a script.
	 *
	 * @param script the script
	 * @param keys the keys it touches, all in one slot
	 * @param arguments its arguments
	 */
	record Call(ScriptText script, List<byte[]> keys, List<String> arguments) {

		Call(RedisScript script, List<byte[]> keys, List<String> arguments) {
			this(script.text(), keys, arguments);
		}

		@Nullable Object bySha(RedisConnection connection) {
			return connection.scriptingCommands()
				.evalSha(this.script.sha(), ReturnType.MULTI, this.keys.size(), keysAndArguments());
		}

		@Nullable Object byText(RedisConnection connection) {
			return connection.scriptingCommands()
				.eval(this.script.bytes(), ReturnType.MULTI, this.keys.size(), keysAndArguments());
		}

		private byte[][] keysAndArguments() {
			byte[][] all = this.keys.toArray(new byte[this.keys.size() + this.arguments.size()][]);
			int next = this.keys.size();
			for (String argument : this.arguments) {
				all[next++] = RedisKeys.bytes(argument);
			}
			return all;
		}

	}

}
