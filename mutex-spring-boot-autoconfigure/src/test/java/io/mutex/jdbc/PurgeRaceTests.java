package io.mutex.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.LockProvider.Settlement;
import io.mutex.MutexException;
import io.mutex.Purged;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import io.mutex.testing.Experiments;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A clean-up that never pauses, beside eight threads that run the units of the same keys
 * and take keys without units.
 */
@Tag("experiment")
class PurgeRaceTests {

	private static final int THREADS = 8;

	private static final int UNITS = Experiments.rounds(40, 400);

	private final Map<String, Long> tokens = new ConcurrentHashMap<>();

	private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

	private final Map<String, AtomicInteger> inside = new ConcurrentHashMap<>();

	private final List<String> violations = Collections.synchronizedList(new ArrayList<>());

	@ParameterizedTest
	@EnumSource
	@DisplayName("C143 nothing runs twice and tokens rise beside a clean-up")
	void nothingRunsTwiceAndTokensRiseBesideACleanUp(JdbcPlatform platform) throws Exception {
		TestDatabase database = TestDatabase.of(platform);
		AtomicIntegerArray reached = new AtomicIntegerArray(THREADS);
		AtomicBoolean ended = new AtomicBoolean();
		AtomicInteger removed = new AtomicInteger();
		ExecutorService executor = Executors.newFixedThreadPool(THREADS + 1);
		try (LockProvider one = database.provider(); LockProvider other = database.provider()) {
			Future<?> cleaner = executor.submit(() -> {
				while (!ended.get()) {
					removed.addAndGet(cleanUp(database, one, reached));
				}
				return true;
			});
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				int thread = i;
				workers.add(executor.submit(() -> {
					for (int unit = 0; unit < UNITS; unit++) {
						reached.set(thread, unit);
						runOnce((thread % 2 == 0) ? one : other, "job-" + unit % 3, "u" + unit);
						runOnce((thread % 2 == 0) ? one : other, "plain-" + unit % 5, null);
					}
					return true;
				}));
			}
			for (Future<?> worker : workers) {
				worker.get(10, TimeUnit.MINUTES);
			}
			ended.set(true);
			cleaner.get(1, TimeUnit.MINUTES);
		}
		finally {
			ended.set(true);
			executor.shutdownNow();
		}
		assertThat(this.violations).isEmpty();
		assertThat(this.runs).hasSize(UNITS).allSatisfy((unit, times) -> assertThat(times).hasValue(1));
		assertThat(removed).hasPositiveValue();
		Experiments.report("clean-up beside runs on " + platform.id(),
				UNITS + " units by " + THREADS + " threads, each run once; " + removed + " rows removed meanwhile");
	}

	// units that no thread asks for any more are over; then all that may go is removed
	private static int cleanUp(TestDatabase database, LockProvider provider, AtomicIntegerArray reached)
			throws Exception {
		int least = Integer.MAX_VALUE;
		for (int i = 0; i < THREADS; i++) {
			least = Math.min(least, reached.get(i));
		}
		for (int unit = Math.max(0, least - 30); unit < least; unit++) {
			database.execute("UPDATE mutex_run SET kept_until = 1 WHERE unit = 'u" + unit + "'");
		}
		int removed = 0;
		Purged batch = new Purged(0, null);
		do {
			try {
				batch = provider.purge(Duration.ZERO, batch.next(), 20);
				removed += batch.removed();
			}
			catch (MutexException ex) {
				// a row was locked for too long: the next round
				return removed;
			}
		}
		while (batch.next() != null);
		return removed;
	}

	private void runOnce(LockProvider provider, String key, @Nullable String unit) {
		while (true) {
			String nonce = UUID.randomUUID().toString().replace("-", "");
			AcquireRequest request = new AcquireRequest(key, "name", nonce, new Owner("a", "b", 1, "c"), Requests.TTL,
					0, (unit != null) ? RunUnit.of(unit).keptFor(Duration.ofHours(1)) : null, 0, 1);
			// no row is idle for long enough to be spared, so one may come and go between
			// the reading and the writing of a request, and leaves it the time it has
			// read
			long before = this.tokens.getOrDefault(key, 0L);
			Acquisition answer = provider.acquire(request);
			if (answer instanceof Acquisition.Done) {
				return;
			}
			if (answer instanceof Acquisition.Granted granted) {
				run(provider, key, unit, new Grant(key, nonce, granted.token(), Requests.TTL), before);
				return;
			}
			Thread.yield();
		}
	}

	private void run(LockProvider provider, String key, @Nullable String unit, Grant grant, long before) {
		AtomicInteger holders = this.inside.computeIfAbsent(key, (absent) -> new AtomicInteger());
		if (holders.incrementAndGet() != 1) {
			this.violations.add("two hold " + key);
		}
		this.tokens.merge(key, grant.token(), Math::max);
		if (before >= grant.token()) {
			this.violations.add("token of " + key + " fell from " + before + " to " + grant.token());
		}
		holders.decrementAndGet();
		if (unit == null) {
			provider.release(key, grant.nonce(), true);
			return;
		}
		this.runs.computeIfAbsent(key + " " + unit, (absent) -> new AtomicInteger()).incrementAndGet();
		if (provider.complete(grant, unit) != Settlement.SETTLED) {
			this.violations.add("not completed: " + key + " " + unit);
		}
	}

}
