package io.mutex.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import io.mutex.Lease;
import io.mutex.LockProvider.Renewal;
import io.mutex.LockRequest;
import io.mutex.engine.FaultyProvider.Call;
import io.mutex.engine.FaultyProvider.Op;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewing leases while their work runs, and no longer.
 */
class LeaseKeeperTests {

	private static final LockRequest KEY = LockRequest.of("key").withLease(Duration.ofMillis(3000));

	private final Engines engines = new Engines();

	private final FaultyProvider store = this.engines.store;

	private final LockEngine engine = this.engines.engine;

	@AfterEach
	void close() {
		this.engines.close();
	}

	@Test
	@DisplayName("P6 C58 a lease is renewed every third of its length by a thread of the engine's own")
	void leaseIsRenewedEveryThirdByAThreadOfTheEngine() {
		long start = System.nanoTime();
		this.engine.execute(KEY, (lease) -> {
			awaitRenewals(3);
			return null;
		});
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(2500));
		assertThat(this.store.calls(Op.RENEW)).extracting(Call::thread).containsOnly("mutex-renewal");
	}

	@Test
	@DisplayName("C56 a renewal that failed is tried again, and the lease survives, the second run's too")
	void renewalThatFailedIsTriedAgain() {
		for (int run = 1; run <= 2; run++) {
			this.store.calls.clear();
			this.store.next(Op.RENEW, FaultyProvider.DOWN, (call, renewal) -> {
				throw new IllegalStateException("driver");
			});
			this.engine.execute(KEY.withLease(Duration.ofSeconds(4)), (lease) -> {
				awaitRenewals(3);
				Awaitility.await().atMost(Engines.PATIENCE).until(() -> lease.remaining().toMillis() > 2500);
				return null;
			});
		}
		assertThat(this.engines.events.lost).isEmpty();
	}

	@Test
	@DisplayName("C58 sixty leases of a slow store all survive, renewed together")
	void sixtyLeasesOfASlowStoreAllSurvive() throws Exception {
		this.store.always(Op.RENEW, (call, renewal) -> {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
			return renewal.get();
		});
		CountDownLatch held = new CountDownLatch(60);
		CountDownLatch free = new CountDownLatch(1);
		List<Future<?>> jobs = IntStream.range(0, 60)
			.mapToObj((i) -> this.engines.threads.submit(
					() -> this.engine.execute(LockRequest.of("key" + i).withLease(Duration.ofSeconds(5)), (lease) -> {
						held.countDown();
						Engines.await(free);
						return null;
					})))
			.collect(Collectors.toCollection(ArrayList::new));
		Engines.await(held);
		long start = System.nanoTime();
		Awaitility.await()
			.atMost(Engines.PATIENCE)
			.until(() -> System.nanoTime() - start > Duration.ofSeconds(6).toNanos());
		free.countDown();
		for (Future<?> job : jobs) {
			job.get();
		}
		assertThat(this.engines.events.lost).isEmpty();
		assertThat(this.store.calls(Op.RENEW).size()).isLessThan(60);
		assertThat(this.store.locks(100)).isEmpty();
	}

	@Test
	void batchesAreFullAtWhateverTimesTheLeasesWereGranted() {
		CompletableFuture<Void> free = new CompletableFuture<>();
		Duration ttl = Duration.ofMillis(4500);
		Lease first = hold(0, 300, ttl, free);
		// later than what is renewed together in any case, and sooner than half of the
		// interval
		Duration later = first.remaining().minusMillis(400);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> first.remaining().compareTo(later) < 0);
		hold(300, 1000, ttl, free);
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> {
			List<Call> renewals = this.store.calls(Op.RENEW);
			return renewals.size() > 4 && renewals.subList(renewals.size() - 4, renewals.size())
				.stream()
				.allMatch((call) -> call.detail().equals("500"));
		});
		free.complete(null);
		assertThat(this.engines.events.lost).isEmpty();
	}

	private Lease hold(int from, int to, Duration ttl, CompletableFuture<Void> free) {
		for (int i = from; i < to; i++) {
			this.engine.execute(LockRequest.of("key" + i).withLease(ttl), (lease) -> free);
		}
		return this.engines.events.granted.get(from);
	}

	@Test
	void leasesThatAreBusyCostNoOtherLease() throws Exception {
		CountDownLatch alone = new CountDownLatch(1);
		this.store.always(Op.RENEW, (call, renewal) -> {
			if (call.key().equals("key")) {
				return renewal.get();
			}
			if (call.detail().equals("1")) {
				alone.countDown();
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
			}
			return Collections.nCopies(Integer.parseInt(call.detail()), Renewal.BUSY);
		});
		CountDownLatch free = new CountDownLatch(1);
		for (int i = 0; i < 40; i++) {
			LockRequest busy = LockRequest.of("busy" + i).withLease(Duration.ofSeconds(6));
			this.engines.threads.submit(() -> this.engine.execute(busy, (lease) -> {
				Engines.await(free);
				return null;
			}));
		}
		Engines.await(alone);
		this.engine.execute(KEY.withLease(Duration.ofSeconds(2)), (lease) -> {
			Awaitility.await()
				.atMost(Engines.PATIENCE)
				.until(() -> !lease.isValid() || this.store.calls((call) -> call.key().equals("key")).size() >= 3);
			lease.assertValid();
			return null;
		});
		free.countDown();
	}

	@Test
	void leaseThatIsBusyIsTriedAgainAloneAndNotLost() throws Exception {
		CountDownLatch held = new CountDownLatch(2);
		CountDownLatch free = new CountDownLatch(1);
		this.store.always(Op.RENEW,
				(call, renewal) -> call.detail().equals("1") ? renewal.get() : List.of(Renewal.BUSY, Renewal.BUSY));
		List<Future<?>> jobs = List.of(submit("a", held, free), submit("b", held, free));
		Engines.await(held);
		Awaitility.await()
			.atMost(Engines.PATIENCE)
			.until(() -> this.store.calls((call) -> call.op() == Op.RENEW && call.detail().equals("1")).size() >= 2);
		free.countDown();
		for (Future<?> job : jobs) {
			job.get();
		}
		assertThat(this.engines.events.lost).isEmpty();
	}

	@Test
	@DisplayName("P8 renewal stops with the work, also when the release fails")
	void renewalStopsWithTheWorkAlsoWhenTheReleaseFails() {
		this.store.always(Op.RELEASE, FaultyProvider.DOWN);
		CountDownLatch other = new CountDownLatch(1);
		this.engine.execute(LockRequest.of("other").withLease(Duration.ofMillis(1500)), (outer) -> {
			this.engine.execute(LockRequest.of("key").withLease(Duration.ofMillis(1200)), (lease) -> null);
			this.store.calls.clear();
			awaitRenewals(3);
			other.countDown();
			return null;
		});
		assertThat(other.getCount()).isZero();
		assertThat(this.store.calls(Op.RENEW)).extracting(Call::key).containsOnly("other");
		assertThat(this.engine.leases()).isEmpty();
	}

	@Test
	@DisplayName("N8 the first renewal counts from the request, so a slow answer does not cost the lease")
	void firstRenewalCountsFromTheRequest() {
		this.store.next(Op.ACQUIRE, (call, grant) -> {
			Object answer = grant.get();
			this.engines.time.pass(Duration.ofSeconds(20));
			return answer;
		});
		this.engine.execute(LockRequest.of("key").withLease(Duration.ofSeconds(30)), (lease) -> {
			Awaitility.await().atMost(Engines.PATIENCE).until(() -> lease.remaining().toSeconds() > 20);
			return null;
		});
		assertThat(this.engines.events.lost).isEmpty();
	}

	@Test
	void storeThatFailsToRenewIsNamedInTheLog() {
		this.store.next(Op.RENEW, FaultyProvider.DOWN);
		try (Logged log = new Logged(LeaseKeeper.class.getName())) {
			this.engine.execute(KEY.withLease(Duration.ofSeconds(2)), (lease) -> {
				awaitRenewals(2);
				return null;
			});
			assertThat(log.at(Level.WARN)).singleElement()
				.asString()
				.contains("key=key provider=faulty", "the store is down");
		}
	}

	@Test
	void errorOfADriverDoesNotEndTheRenewals() {
		this.store.next(Op.RENEW, (call, renewal) -> {
			throw new NoClassDefFoundError("driver");
		});
		this.engine.execute(KEY, (lease) -> {
			awaitRenewals(3);
			return null;
		});
		assertThat(this.engines.events.lost).isEmpty();
	}

	private void awaitRenewals(int number) {
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.store.calls(Op.RENEW).size() >= number);
	}

	private Future<?> submit(String key, CountDownLatch held, CountDownLatch free) {
		return this.engines.threads
			.submit(() -> this.engine.execute(LockRequest.of(key).withLease(Duration.ofSeconds(2)), (lease) -> {
				held.countDown();
				Engines.await(free);
				return null;
			}));
	}

}
