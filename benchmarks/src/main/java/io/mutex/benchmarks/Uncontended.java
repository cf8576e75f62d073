package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * One thread that takes and frees a key nobody else wants, and eight threads with a key
 * each.
 */
final class Uncontended {

	static final String MUTEX_LOCK = "Mutex provider, no unit";

	static final String MUTEX_CHECK = "Mutex provider, record checked";

	static final String MUTEX_RUN = "Mutex provider, record written";

	static final String TEMPLATE_LOCK = "MutexTemplate.execute, no unit";

	static final String TEMPLATE_RUN = "MutexTemplate.singleRun, record written";

	static final String SHEDLOCK = "ShedLock";

	static final String INTEGRATION = "Spring Integration";

	static final String RLOCK = "Redisson RLock";

	static final String FENCED = "Redisson RFencedLock";

	static final String SPIN = "Redisson spin lock";

	private static final int THREADS = 8;

	private static final int RECORDS = 1000;

	private Uncontended() {
	}

	static void redis(Scale scale, Servers servers, Results results) throws Exception {
		try (RedisStore store = new RedisStore(servers.redis().host(), servers.redis().port())) {
			String bare = "two bare scripts, Lettuce";
			Map<String, Work> candidates = new LinkedHashMap<>();
			candidates.put(bare, store.bareLettuce("{bare}"));
			candidates.put("two bare scripts, Spring Data Redis", store.bareSpring("{bare}"));
			mutex(candidates, store.mutex());
			candidates.put(SHEDLOCK, store.shedLock("one"));
			candidates.put(RLOCK, store.redisson("one"));
			candidates.put(FENCED, store.redissonFenced("one"));
			candidates.put(SPIN, store.redissonSpin("one"));
			candidates.put(INTEGRATION, store.integration("one"));
			roundTripsOfRedis(servers, results, store.mutex());
			Timings timings = Timings.play(scale, candidates);
			String work = "Redis, acquire + release, record checked";
			results.add(Target.atMost(1.15, "x", "two bare scripts", work + " (provider)",
					timings.ratio(MUTEX_CHECK, bare)));
			results
				.add(Target.atMost(1.2, "x", "ShedLock", work + " (provider)", timings.ratio(MUTEX_CHECK, SHEDLOCK)));
			results
				.add(Target.atMost(0.95, "x", "RFencedLock", work + " (provider)", timings.ratio(MUTEX_CHECK, FENCED)));
			results.add(Target.atMost(1.2, "x", "ShedLock", "Redis, lock without a unit (template)",
					timings.ratio(TEMPLATE_LOCK, SHEDLOCK)));
			results.add(Target.atMost(0.95, "x", "RFencedLock", "Redis, lock without a unit (template)",
					timings.ratio(TEMPLATE_LOCK, FENCED)));
			table(results, "Redis", timings, bare);
			Map<String, Function<String, Work>> all = new LinkedHashMap<>();
			all.put(MUTEX_LOCK, store.mutex()::lock);
			all.put(TEMPLATE_LOCK, store.mutex()::execute);
			all.put(RLOCK, store::redisson);
			all.put(FENCED, store::redissonFenced);
			all.put(SHEDLOCK, store::shedLock);
			all.put(INTEGRATION, store::integration);
			Map<String, List<Crowd>> crowds = crowds(scale, results, "Redis", all);
			throughput(results, "Redis", 2, TEMPLATE_LOCK, RLOCK, crowds);
		}
	}

	static void postgres(Scale scale, Servers servers, Results results) throws Exception {
		try (SqlStore store = new SqlStore(Servers.newDatabase(servers.postgres()), true)) {
			Timings timings = database(scale, results, "PostgreSQL", store, 1.1, 1.2, 1.3);
			for (String peer : List.of(SHEDLOCK, INTEGRATION)) {
				results.add(Target.atMost(0.75, "x", peer, "PostgreSQL, record checked (provider)",
						timings.ratio(MUTEX_CHECK, peer)));
				results.add(Target.atMost(0.75, "x", peer, "PostgreSQL, lock without a unit (template)",
						timings.ratio(TEMPLATE_LOCK, peer)));
			}
			Map<String, List<Crowd>> crowds = crowds(scale, results, "PostgreSQL", ofDatabase(store));
			throughput(results, "PostgreSQL", 1.5, TEMPLATE_LOCK, SHEDLOCK, crowds);
			throughput(results, "PostgreSQL", 1.5, TEMPLATE_LOCK, INTEGRATION, crowds);
		}
	}

	static void mariaDb(Scale scale, Servers servers, Results results) throws Exception {
		try (SqlStore store = new SqlStore(Servers.newDatabase(servers.mariaDb()), true)) {
			database(scale, results, "MariaDB", store, 1.15, 1.25, 1.5);
			crowds(scale, results, "MariaDB", ofDatabase(store));
		}
	}

	private static Timings database(Scale scale, Results results, String name, SqlStore store, double lock,
			double check, double run) throws Exception {
		String bare = "two bare updates, one statement kept";
		Map<String, Work> candidates = new LinkedHashMap<>();
		candidates.put(bare, store.bare());
		candidates.put("two bare updates, through the pool", store.barePooled());
		mutex(candidates, store.mutex());
		candidates.put(SHEDLOCK, store.shedLock("one"));
		candidates.put(INTEGRATION, store.integration("one"));
		for (int record = 0; record < RECORDS; record++) {
			store.mutex().run("earlier").run(Uncontended::nothing);
		}
		store.analyze();
		Timings timings = Timings.play(scale, candidates);
		results.add(Target.atMost(lock, "x", "two bare updates", name + ", acquire + release, no unit (provider)",
				timings.ratio(MUTEX_LOCK, bare)));
		results.add(Target.atMost(check, "x", "two bare updates", name + ", the same, record checked (provider)",
				timings.ratio(MUTEX_CHECK, bare)));
		results.add(Target.atMost(run, "x", "two bare updates", name + ", the same, record written (provider)",
				timings.ratio(MUTEX_RUN, bare)));
		table(results, name, timings, bare);
		return timings;
	}

	private static Map<String, Function<String, Work>> ofDatabase(SqlStore store) {
		Map<String, Function<String, Work>> all = new LinkedHashMap<>();
		all.put(MUTEX_LOCK, store.mutex()::lock);
		all.put(TEMPLATE_LOCK, store.mutex()::execute);
		all.put(SHEDLOCK, store::shedLock);
		all.put(INTEGRATION, store::integration);
		return all;
	}

	private static void mutex(Map<String, Work> candidates, MutexCalls mutex) {
		candidates.put(MUTEX_LOCK, mutex.lock("lock"));
		candidates.put(MUTEX_CHECK, mutex.lockWithRecordCheck("check"));
		candidates.put(MUTEX_RUN, mutex.run("run"));
		candidates.put(TEMPLATE_LOCK, mutex.execute("execute"));
		candidates.put(TEMPLATE_RUN, mutex.singleRun("single"));
	}

	private static void roundTripsOfRedis(Servers servers, Results results, MutexCalls mutex) throws Exception {
		Work work = mutex.lockWithRecordCheck("counted");
		work.run(Uncontended::nothing);
		int calls = 10;
		try (RedisMonitor monitor = new RedisMonitor(servers.redis())) {
			for (int call = 0; call < calls; call++) {
				work.run(Uncontended::nothing);
			}
			results.add(Target.atMost(2, "", "round trips", "Redis, acquire + release, record checked (provider)",
					Spread.of((double) monitor.count() / calls)));
		}
	}

	private static void nothing() {
	}

	private static void table(Results results, String store, Timings timings, String bare) {
		List<List<String>> rows = new ArrayList<>();
		List<Chart.Bar> bars = new ArrayList<>();
		for (String name : timings.names()) {
			Spread ratio = timings.ratio(name, bare);
			Spread micros = timings.micros(name);
			rows.add(List.of(name, micros.middle(), micros.range(), ratio.middle(), ratio.range()));
			bars.add(new Chart.Bar(name, ratio.median(), name.startsWith("Mutex")));
		}
		results.add(new Results.Table(store + ", one thread, one key",
				"Acquire and release, p50 of single calls in turns; the ratio is to the first row.",
				List.of("", "µs", "spread", "ratio", "spread"), rows));
		results.add(new Chart.Group(store + ": time of acquire + release, two bare calls = 1", bars));
	}

	private static Map<String, List<Crowd>> crowds(Scale scale, Results results, String store,
			Map<String, Function<String, Work>> candidates) throws Exception {
		Map<String, IntFunction<Work>> threads = new LinkedHashMap<>();
		candidates.forEach((name, factory) -> threads.put(name, (thread) -> factory.apply("key-" + thread)));
		Map<String, List<Crowd>> crowds = Crowd.play(scale, THREADS, threads, false);
		List<List<String>> rows = new ArrayList<>();
		crowds.forEach((name, rounds) -> {
			Spread perSecond = Crowd.perSecond(rounds);
			rows.add(List.of(name, perSecond.middle(), perSecond.range()));
		});
		results.add(new Results.Table(store + ", eight threads, a key each", "Acquire and release, in turns.",
				List.of("", "calls/s", "spread"), rows));
		return crowds;
	}

	private static void throughput(Results results, String store, double bound, String name, String peer,
			Map<String, List<Crowd>> crowds) {
		results.add(Target.atLeast(bound, "x", peer, store + ", 8 threads on 8 keys, throughput (template)",
				Crowd.ratio(crowds.getOrDefault(name, List.of()), crowds.getOrDefault(peer, List.of()))));
	}

}
