package io.mutex;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.Acquisition.Done;
import io.mutex.Acquisition.Granted;
import io.mutex.Acquisition.Held;
import io.mutex.LockProvider.Settlement;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract about several threads at one store.
 */
abstract class ConcurrencyContract extends ReservationContract {

	private static final int THREADS = 8;

	private static final int MAX_STEPS = 20_000;

	@Test
	void oneThreadAtATimeIsInside() throws Exception {
		String key = newKey();
		AtomicInteger inside = new AtomicInteger();
		int[] counter = new int[1];
		List<Integer> overlaps = Crowd.run(THREADS, (thread) -> () -> {
			int seen = 0;
			for (int entered = 0; entered < 25;) {
				AcquireRequest request = Ask.of(key).request();
				if (of(thread).acquire(request) instanceof Granted) {
					seen += (inside.incrementAndGet() == 1) ? 0 : 1;
					int read = counter[0];
					Thread.yield();
					counter[0] = read + 1;
					inside.decrementAndGet();
					entered++;
					of(thread).release(key, request.nonce(), true);
				}
				Thread.yield();
			}
			return seen;
		});
		assertThat(overlaps).containsOnly(0);
		assertThat(counter[0]).isEqualTo(THREADS * 25);
	}

	@Test
	void readersAreInsideTogetherAndAWriterAlone() throws Exception {
		String key = newKey();
		AtomicInteger inside = new AtomicInteger();
		int writer = 1000;
		List<Integer> wrong = Crowd.run(THREADS, (thread) -> () -> {
			Random random = new Random(thread);
			int seen = 0;
			for (int entered = 0; entered < 15;) {
				boolean writes = random.nextInt(4) == 0;
				AcquireRequest request = writes ? Ask.of(key).request() : Ask.of(key).permits(3).request();
				if (of(thread).acquire(request) instanceof Granted) {
					int now = inside.addAndGet(writes ? writer : 1);
					seen += (writes ? now == writer : now <= 3) ? 0 : 1;
					Thread.yield();
					inside.addAndGet(writes ? -writer : -1);
					entered++;
					of(thread).release(key, request.nonce(), true);
				}
				Thread.yield();
			}
			return seen;
		});
		assertThat(wrong).containsOnly(0);
	}

	@Test
	void aNewKeyIsGrantedToOneOfEightWithoutAnException() throws Exception {
		for (int round = 0; round < 15; round++) {
			String key = newKey();
			String unit = (round % 2 == 0) ? null : "u";
			List<Acquisition> answers = Crowd.run(THREADS,
					(thread) -> () -> of(thread).acquire(Ask.of(key).unit(unit).request()));
			assertThat(answers).filteredOn(Granted.class::isInstance).hasSize(1);
			assertThat(answers).filteredOn(Held.class::isInstance).hasSize(THREADS - 1);
		}
	}

	@Test
	void aUnitSucceedsOnceAmongEightThatAllTry() throws Exception {
		String key = newKey();
		int units = 15;
		List<Integer> successes = Crowd.run(THREADS, (thread) -> () -> {
			int own = 0;
			for (int i = 0; i < units; i++) {
				own += succeed(of(thread), key, "u" + i);
			}
			return own;
		});
		assertThat(successes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(units);
		assertThat(provider().runs(key, 100)).hasSize(units).allMatch((run) -> run.status() == Status.DONE);
	}

	@Test
	void randomHistoriesKeepTheInvariants() throws Exception {
		long seed = System.nanoTime();
		List<String> keys = List.of(newKey(), newKey(), newKey());
		History history = new History();
		long begin = System.nanoTime();
		Crowd.run(4, (thread) -> (Callable<Boolean>) () -> {
			Random random = new Random(seed + thread);
			for (int i = 0; i < MAX_STEPS; i++) {
				long elapsed = Duration.ofNanos(System.nanoTime() - begin).toMillis();
				if (elapsed > 2000 && history.grants() > 30) {
					break;
				}
				String unit = "u" + (elapsed / 20 + random.nextInt(4));
				step(of(thread), keys.get(random.nextInt(keys.size())), unit, random, history);
			}
			return true;
		});
		assertThat(history.grants()).as("seed %d", seed).isGreaterThan(30);
		assertThat(history.successes()).as("seed %d", seed).isPositive();
		history.check();
		long recorded = keys.stream()
			.flatMap((key) -> provider().runs(key, 1000).stream())
			.map(RunRecord::status)
			.filter(Status.DONE::equals)
			.count();
		assertThat(recorded).as("seed %d", seed).isEqualTo(history.successes());
	}

	private static void step(LockProvider provider, String key, String drawn, Random random, History history) {
		String unit = (random.nextInt(4) == 0) ? null : drawn;
		Duration ttl = (random.nextInt(5) == 0) ? Duration.ofMillis(1 + random.nextInt(20)) : Duration.ofSeconds(2);
		int tokens = 1 + random.nextInt(3);
		AcquireRequest request = Ask.of(key).unit(unit).ttl(ttl).tokens(tokens).request();
		long asked = System.nanoTime();
		Acquisition answer = provider.acquire(request);
		if (!(answer instanceof Granted granted)) {
			if (random.nextInt(5) == 0) {
				provider.release(key, request.nonce(), random.nextBoolean());
			}
			Thread.yield();
			return;
		}
		history.granted(key, unit, granted.firstToken(), granted.token(), asked, System.nanoTime());
		Holding holding = new Holding(request, granted);
		if (random.nextInt(3) == 0) {
			provider.renew(List.of(holding.grant()));
		}
		settle(provider, holding, unit, random.nextInt(10), history);
	}

	private static void settle(LockProvider provider, Holding holding, @Nullable String unit, int choice,
			History history) {
		if (unit == null || choice < 3) {
			provider.release(holding.key(), holding.nonce(), choice % 2 == 0);
		}
		else if (choice < 5) {
			provider.fail(holding.grant(), unit, "error", Duration.ZERO);
			provider.complete(holding.grant(), unit);
		}
		else if (provider.complete(holding.grant(), unit) == Settlement.SETTLED) {
			history.succeeded(holding.key(), unit, System.nanoTime());
			provider.complete(holding.grant(), unit);
		}
	}

	private static int succeed(LockProvider provider, String key, String unit) {
		while (true) {
			AcquireRequest request = Ask.of(key).unit(unit).request();
			Acquisition answer = provider.acquire(request);
			if (answer instanceof Done) {
				return 0;
			}
			if (answer instanceof Granted granted) {
				Thread.yield();
				return (provider.complete(new Holding(request, granted).grant(), unit) == Settlement.SETTLED) ? 1 : 0;
			}
			Thread.yield();
		}
	}

	private LockProvider of(int thread) {
		return (thread % 2 == 0) ? provider() : other();
	}

}
