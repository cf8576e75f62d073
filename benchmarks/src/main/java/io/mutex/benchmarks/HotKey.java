package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Eight threads of one JVM that want the same key.
 */
final class HotKey {

	static final int THREADS = 8;

	private static final String TEMPLATE = "MutexTemplate";

	private static final String RLOCK = "Redisson RLock";

	private HotKey() {
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		try (RedisStore store = new RedisStore(servers.redis().host(), servers.redis().port())) {
			Map<String, IntFunction<Work>> candidates = new LinkedHashMap<>();
			candidates.put(TEMPLATE, (thread) -> store.mutex().execute("hot"));
			candidates.put(RLOCK, (thread) -> store.redisson("hot"));
			candidates.put("Redisson spin lock", (thread) -> store.redissonSpin("hot"));
			candidates.put("Spring Integration", (thread) -> store.integration("hot"));
			Map<String, List<Crowd>> crowds = Crowd.play(scale, THREADS, candidates, true);
			results.add(Target.atLeast(20, "x", "RLock", "Redis, 8 threads of one JVM on one key (template)",
					Crowd.ratio(crowds.getOrDefault(TEMPLATE, List.of()), crowds.getOrDefault(RLOCK, List.of()))));
			table(results, "Redis", crowds);
		}
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		try (SqlStore store = new SqlStore(Servers.newDatabase(servers.postgres()), true)) {
			Map<String, IntFunction<Work>> candidates = new LinkedHashMap<>();
			candidates.put(TEMPLATE, (thread) -> store.mutex().execute("hot"));
			candidates.put("Spring Integration", (thread) -> store.integration("hot"));
			table(results, "PostgreSQL", Crowd.play(scale, THREADS, candidates, true));
		}
	}

	static void table(Results results, String store, Map<String, List<Crowd>> crowds) {
		List<List<String>> rows = new ArrayList<>();
		crowds.forEach((name, rounds) -> rows.add(row(name, rounds)));
		results.add(new Results.Table(store + ", eight threads of one JVM, one key",
				"The share of the luckiest thread is 1 if all get the same.",
				List.of("", "calls/s", "spread", "luckiest thread", "longest wait, ms"), rows));
	}

	static List<String> row(String name, List<Crowd> rounds) {
		Spread perSecond = Crowd.perSecond(rounds);
		return List.of(name, perSecond.middle(), perSecond.range(), Crowd.share(rounds).middle() + " x",
				Spread.number(Crowd.longestWait(rounds).max()));
	}

}
