package io.mutex.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.mutex.LockHazard;
import io.mutex.LockHazard.Kind;
import io.mutex.LockRequest;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the monitors notice, and how often they tell it.
 */
class MonitorsTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final MonitorSettings DEFAULTS = MonitorSettings.defaults();

	private final Engines engines = new Engines();

	private final LockEngine engine = this.engines.engine;

	private final CountDownLatch free = new CountDownLatch(1);

	@AfterEach
	void close() {
		this.free.countDown();
		this.engines.close();
	}

	private static LockRequest request(String key) {
		return LockRequest.of(key).withLease(HOUR).withWaitFor(HOUR);
	}

	private List<LockHazard> told(Kind kind) {
		return this.engines.events.hazards.stream().filter((hazard) -> hazard.kind() == kind).toList();
	}

	private LockHazard awaitTold(Kind kind) {
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> !told(kind).isEmpty());
		return told(kind).get(0);
	}

	private Future<?> hold(LockRequest request) throws InterruptedException {
		CountDownLatch held = new CountDownLatch(1);
		Future<?> holder = this.engines.threads.submit(() -> this.engine.execute(request, (lease) -> {
			held.countDown();
			Engines.await(this.free);
			return null;
		}));
		Engines.await(held);
		return holder;
	}

	private void nest(LockRequest... requests) {
		nest(List.of(requests));
	}

	private void nest(List<LockRequest> requests) {
		if (!requests.isEmpty()) {
			this.engine.execute(requests.get(0), (lease) -> {
				nest(requests.subList(1, requests.size()));
				return null;
			});
		}
	}

	@Test
	void threadThatWaitsTooLongIsToldOnce() throws Exception {
		Future<?> holder = hold(request("key"));
		Future<?> waiter = this.engines.threads
			.submit(() -> this.engine.execute(request("key").withName("name"), (lease) -> null));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == 1);
		try (Logged log = new Logged(Monitors.class.getName())) {
			this.engines.time.pass(DEFAULTS.waitingLimit());
			LockHazard hazard = awaitTold(Kind.STARVATION);
			assertThat(hazard.key()).isEqualTo("key");
			assertThat(hazard.name()).isEqualTo("name");
			assertThat(hazard.description()).contains("waits for 'key' for PT", "longer than PT30S");
			// a later look tells of the hold, and not again of the waiter
			this.engines.time.pass(DEFAULTS.holdLimit());
			assertThat(awaitTold(Kind.LONG_HOLD).description()).contains("'key' has been held for PT1",
					"longer than PT10M");
			assertThat(told(Kind.STARVATION)).hasSize(1);
			assertThat(log.at(Level.WARN)).hasSize(2).allMatch((line) -> line.contains("key=key"));
		}
		this.free.countDown();
		holder.get();
		waiter.get();
	}

	@Test
	void keyThatIsHeldTooLongIsToldOnceUnlessAScheduleMeasuresIt() throws Exception {
		this.engine.monitorBy(new MonitorSettings(true, HOUR, Duration.ofSeconds(1), 5));
		Future<?> run = this.engines.threads.submit(() -> this.engine
			.singleRun(LockRequest.of("run").withLease(HOUR).withUnit(RunUnit.of("1")), (lease) -> {
				Engines.await(this.free);
				return null;
			}));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.leases().size() == 1);
		Future<?> first = hold(request("first"));
		awaitTold(Kind.LONG_HOLD);
		Future<?> second = hold(request("second"));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> told(Kind.LONG_HOLD).size() > 1);
		assertThat(told(Kind.LONG_HOLD)).extracting(LockHazard::key).containsExactly("first", "second");
		this.free.countDown();
		run.get();
		first.get();
		second.get();
	}

	@Test
	void callThatHoldsTooManyKeysIsToldOncePerName() {
		LockRequest[] deep = Stream.of("a", "b", "c", "d", "e", "f")
			.map(MonitorsTests::request)
			.toArray(LockRequest[]::new);
		nest(deep);
		nest(deep);
		nest(request("g"), request("h"), request("i"), request("j"), request("k"));
		nest(request("h"), request("g"));
		// what was noted in one order is told in this order
		awaitTold(Kind.OPPOSITE_ORDERS);
		assertThat(told(Kind.DEEP_NESTING)).singleElement().satisfies((hazard) -> {
			assertThat(hazard.key()).isEqualTo("f");
			assertThat(hazard.description())
				.contains("holds 6 keys at once, more than 5: 'e', 'd', 'c', 'b', 'a', 'f'");
		});
	}

	@Test
	void keysTakenInOppositeOrdersAreToldOnce() {
		LockRequest one = request("account:1").withName("account:#{#id}");
		LockRequest two = request("account:2").withName("account:#{#id}");
		LockRequest three = request("account:3").withName("account:#{#id}");
		nest(one, two, three);
		nest(three, two.withWaitFor(Duration.ZERO));
		nest(two, one);
		nest(one, two);
		nest(two, one);
		nest(request("x"), request("y"));
		nest(request("y"), request("x"));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> told(Kind.OPPOSITE_ORDERS).size() > 1);
		assertThat(told(Kind.OPPOSITE_ORDERS)).extracting(LockHazard::key).containsExactly("account:1", "x");
		LockHazard hazard = told(Kind.OPPOSITE_ORDERS).get(0);
		assertThat(hazard.name()).isEqualTo("account:#{#id}");
		assertThat(hazard.description()).contains("took 'account:1' while it held 'account:2'",
				"took 'account:2' while it held 'account:1'");
	}

	@Test
	void threadsThatWaitForEachOtherAreToldOnce() throws Exception {
		CountDownLatch both = new CountDownLatch(2);
		Future<?> one = cross("a", "b", both);
		Future<?> other = cross("b", "a", both);
		LockHazard hazard = awaitTold(Kind.DEADLOCK);
		assertThat(hazard.description()).contains("holds 'a' and waits for 'b'", "holds 'b' and waits for 'a'");
		this.engines.time.pass(DEFAULTS.waitingLimit().plusSeconds(1));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> told(Kind.STARVATION).size() == 2);
		assertThat(told(Kind.DEADLOCK)).hasSize(1);
		one.cancel(true);
		other.get();
	}

	private Future<?> cross(String first, String second, CountDownLatch both) {
		return this.engines.threads.submit(() -> this.engine.execute(request(first), (lease) -> {
			both.countDown();
			Engines.await(both);
			return this.engine.execute(request(second), (inner) -> null);
		}));
	}

	@Test
	void nobodyLooksIfTheMonitorsAreOff() throws Exception {
		this.engine.monitorBy(new MonitorSettings(false, Duration.ofNanos(1), Duration.ofNanos(1), 1));
		long threads = threads();
		Future<?> holder = hold(request("key"));
		Future<?> waiter = this.engines.threads.submit(() -> this.engine.execute(request("key"), (lease) -> null));
		Awaitility.await().atMost(Engines.PATIENCE).until(() -> this.engine.waiting("key") == 1);
		nest(request("a"), request("b"));
		nest(request("b"), request("a"));
		assertThat(threads()).isLessThanOrEqualTo(threads);
		this.free.countDown();
		holder.get();
		waiter.get();
		assertThat(this.engines.events.hazards).isEmpty();
	}

	// those of the tests before may still be about to end
	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("mutex-monitor"))
			.count();
	}

}
