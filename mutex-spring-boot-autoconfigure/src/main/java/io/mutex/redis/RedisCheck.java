package io.mutex.redis;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

import io.mutex.MutexException;
import io.mutex.StoreSetupException;
import io.mutex.redis.RedisScripts.Call;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Finds out whether a server is fit to keep locks.
 */
final class RedisCheck {

	private static final int SECTIONS = 4;

	private final RedisScripts scripts;

	private final RedisKeys keys;

	private final RedisFindings findings = new RedisFindings();

	RedisCheck(RedisScripts scripts, RedisKeys keys) {
		this.scripts = scripts;
		this.keys = keys;
	}

	/**
	 * Tries everything the scripts need; in a cluster on the node of each bucket.
	 * @return what is not as safe as it could be
	 */
	List<String> run() {
		return this.scripts.withConnection(null, (connection) -> {
			int buckets = (connection instanceof RedisClusterConnection) ? RedisKeys.BUCKETS : 1;
			Set<String> found = new LinkedHashSet<>();
			IntStream.range(0, buckets).forEach((bucket) -> found.addAll(run(connection, bucket)));
			return List.copyOf(found);
		});
	}

	private List<String> run(RedisConnection connection, int bucket) {
		Call call = new Call(RedisScript.CHECK,
				List.of(this.keys.probe(bucket, "hash"), this.keys.probe(bucket, "set")), List.of());
		List<String> refused = new ArrayList<>();
		List<String> answer = new ArrayList<>();
		tryCommand("EVAL", refused, () -> answer.addAll(RedisScripts.strings(call.byText(connection))));
		tryCommand("EVALSHA", refused, () -> call.bySha(connection));
		for (int i = SECTIONS; i < answer.size(); i += 2) {
			if (!RedisFailures.isRefusal(answer.get(i + 1))) {
				throw new MutexException(null, "redis is not fit to keep locks: "
						+ RedisFailures.remedy(answer.get(i + 1)) + " (" + answer.get(i + 1) + ")");
			}
			refused.add(answer.get(i));
		}
		if (!refused.isEmpty()) {
			throw new StoreSetupException(
					"Redis refuses commands that the locks need: " + String.join(", ", refused) + ".",
					"Allow them for the user of the connection (ACL SETUSER … +"
							+ String.join(" +", refused).toLowerCase(Locale.ROOT)
							+ "), on the keys that begin with mutex.redis.key-prefix.",
					null);
		}
		return this.findings.of(answer.get(0), answer.get(1), answer.get(2), answer.get(3));
	}

	private static void tryCommand(String name, List<String> refused, Runnable command) {
		try {
			command.run();
		}
		catch (RuntimeException ex) {
			String text = RedisFailures.texts(ex);
			if (text.toLowerCase(Locale.ROOT).contains("no permissions to access")) {
				throw new StoreSetupException("Redis refuses the keys of the locks.",
						"Allow the user of the connection the keys that begin with mutex.redis.key-prefix"
								+ " (ACL SETUSER … ~<prefix>:*).",
						ex);
			}
			if (!RedisFailures.isRefusal(text)) {
				throw ex;
			}
			refused.add(name);
		}
	}

}
