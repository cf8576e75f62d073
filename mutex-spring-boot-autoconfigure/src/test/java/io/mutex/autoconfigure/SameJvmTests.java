package io.mutex.autoconfigure;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.management.JMException;
import javax.management.ObjectName;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mutex.FencingToken;
import io.mutex.HeldLock;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.StoreSetupException;
import io.mutex.annotation.SingleRun;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.metrics.ObservedTemplate;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two contexts of one application in one JVM, as in a server that has it twice, or as
 * parent and child.
 */
class SameJvmTests {

	// long enough for the start of a context on a busy machine
	private static final Duration LEASE = Duration.ofSeconds(3);

	private static final LockRequest KEY = LockRequest.of("key");

	@TempDir
	static Path directory;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicInteger bodies = new AtomicInteger();

	private final MeterRegistry meters = new SimpleMeterRegistry();

	private final String namespace = "ns-" + UUID.randomUUID();

	private boolean observed;

	@AfterEach
	void end() {
		this.threads.shutdownNow();
	}

	static Stream<Map<String, Object>> stores() {
		TestServer redis = TestServers.redis();
		return Stream.of(
				Map.of("mutex.provider", "file", "mutex.file.directory", directory.resolve("locks").toString()),
				Map.of("mutex.provider", "jdbc", "spring.datasource.url", "jdbc:h2:mem:twice;DB_CLOSE_DELAY=-1",
						"spring.datasource.hikari.register-mbeans", "true", "spring.datasource.hikari.pool-name",
						"${random.uuid}"),
				Map.of("mutex.provider", "redis", "spring.data.redis.host", redis.host(), "spring.data.redis.port",
						redis.port()));
	}

	@ParameterizedTest
	@MethodSource("stores")
	@DisplayName("C124 of two contexts in one JVM one runs, and the end of it leaves the hold of the other alone")
	void twiceInOneServer(Map<String, Object> store) throws Exception {
		AnnotationConfigApplicationContext one = start(store, null);
		try (AnnotationConfigApplicationContext other = start(store, null)) {
			one.getBean(Job.class).daily();
			other.getBean(Job.class).daily();
			assertThat(this.bodies).hasValue(1);
			assertThat(pools()).filteredOn((name) -> name.contains("mutex")).isEmpty();
			assertClosingLeavesTheOtherAlone(one, other);
			assertThat(this.meters.get("mutex.singlerun.run").tag("name", "daily").counters()).satisfies(
					(counters) -> assertThat(counters.stream().mapToDouble((each) -> each.count()).sum()).isEqualTo(2));
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@DisplayName("C124 the end of a child context drains its own calls and not those of its parent")
	void childEndsBeforeItsParent(Map<String, Object> store) throws Exception {
		try (AnnotationConfigApplicationContext parent = start(store, null)) {
			AnnotationConfigApplicationContext child = start(store, parent);
			child.getBean(Job.class).daily();
			parent.getBean(Job.class).daily();
			assertThat(this.bodies).hasValue(1);
			assertThat(child.getBean(LockEngine.class)).isNotSameAs(parent.getBean(LockEngine.class));
			Hold hold = hold(child);
			Future<?> closing = this.threads.submit(child::close);
			awaitRefusal(child);
			assertThat(closing).isNotDone();
			hold.end();
			closing.get();
			AnnotationConfigApplicationContext next = start(store, parent);
			assertClosingLeavesTheOtherAlone(next, parent);
		}
	}

	@Test
	@DisplayName("C124 an engine that the parent context defines serves the child, and goes on after it")
	void childUsesWhatItsParentDefines() {
		try (MemoryLockProvider store = new MemoryLockProvider();
				LockEngine engine = new LockEngine(store, EngineSettings.defaults("own"), List.of());
				AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext()) {
			parent.registerBean("own", LockEngine.class, () -> engine);
			parent.refresh();
			AnnotationConfigApplicationContext child = start(Map.of("mutex.provider", "memory"), parent);
			assertThat(child.getBeanProvider(MutexTemplate.class).stream()).containsExactly(engine);
			child.getBean(Job.class).daily();
			child.close();
			assertThat(engine.<String, RuntimeException>execute(KEY, (lease) -> "ran")).isEqualTo("ran");
		}
	}

	@Test
	@DisplayName("C124 a child context that is observed uses its own engine, too")
	void observedChildUsesItsOwnEngine() {
		Map<String, Object> properties = Map.of("mutex.provider", "memory");
		this.observed = true;
		try (AnnotationConfigApplicationContext parent = start(properties, null)) {
			AnnotationConfigApplicationContext child = start(properties, parent);
			assertThat(child.getBean(LockProvider.class)).isSameAs(parent.getBean(LockProvider.class));
			assertThat(child.getBean(MutexTemplate.class)).isInstanceOf(ObservedTemplate.class)
				.isNotSameAs(parent.getBean(MutexTemplate.class));
			assertThat(child.getBean(LockEngine.class)).isNotSameAs(parent.getBean(LockEngine.class));
			child.getBean(Job.class).daily();
			child.close();
			assertThat(parent.getBean(MutexTemplate.class).<String, RuntimeException>execute(KEY, (lease) -> "ran"))
				.isEqualTo("ran");
			parent.getBean(Job.class).daily();
			assertThat(this.bodies).hasValue(1);
		}
	}

	@Test
	@DisplayName("C124 a child context locks although its parent does not")
	void childOfAParentWithoutLocksHasItsOwn() {
		try (AnnotationConfigApplicationContext parent = start(
				Map.of("mutex.provider", "memory", "mutex.enabled", "false"), null);
				AnnotationConfigApplicationContext child = start(
						Map.of("mutex.provider", "memory", "mutex.enabled", "true"), parent)) {
			child.getBean(Job.class).daily();
			child.getBean(Job.class).daily();
			assertThat(this.bodies).hasValue(1);
			assertThat(child.getBeanProvider(MutexTemplate.class).stream())
				.containsExactly(child.getBean(LockEngine.class));
			parent.getBean(Job.class).daily();
			assertThat(this.bodies).hasValue(2);
		}
	}

	@Test
	@DisplayName("C124 a child context does not start upon another store than it would choose")
	void storeOfTheParentIsNotUsedInPlaceOfAnother() {
		Map<String, Object> database = Map.of("mutex.provider", "jdbc", "spring.datasource.url",
				"jdbc:h2:mem:below;DB_CLOSE_DELAY=-1");
		try (AnnotationConfigApplicationContext parent = start(Map.of("mutex.provider", "memory"), null)) {
			assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(database, parent))
				.havingRootCause()
				.isInstanceOf(StoreSetupException.class)
				.withMessageContaining("memory")
				.withMessageContaining("jdbc");
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@DisplayName("C124 a call of a child context that calls into its parent does not wait for itself")
	void callOfAChildEntersItsKeyAgainInTheParent(Map<String, Object> store) {
		try (AnnotationConfigApplicationContext parent = start(store, null);
				AnnotationConfigApplicationContext child = start(store, parent)) {
			MutexTemplate outer = child.getBean(MutexTemplate.class);
			MutexTemplate inner = parent.getBean(MutexTemplate.class);
			assertThat(inner).isNotSameAs(outer);
			FencingToken token = outer.execute(KEY, (lease) -> inner.execute(KEY, Lease::token));
			assertThat(parent.getBean(LockProvider.class).lock("key")).isEmpty();
			FencingToken next = inner.execute(KEY, (lease) -> outer.execute(KEY, Lease::token));
			assertThat(next).isGreaterThan(token);
		}
	}

	private void assertClosingLeavesTheOtherAlone(AnnotationConfigApplicationContext one,
			AnnotationConfigApplicationContext other) throws Exception {
		Hold hold = hold(other);
		assertRefused(one);
		HeldLock before = lock(other);
		one.close();
		assertThat(lock(other).nonce()).isEqualTo(before.nonce());
		awaitRenewal(other, before);
		assertThat(hold.lease.isValid()).isTrue();
		hold.end();
		Hold next = hold(other);
		assertThat(lock(other).nonce()).isNotEqualTo(before.nonce());
		next.end();
	}

	private void awaitRenewal(ApplicationContext context, HeldLock before) {
		Instant expires = before.expiresAt();
		if (expires != null) {
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
				Instant now = lock(context).expiresAt();
				return now != null && now.isAfter(expires.plus(LEASE));
			});
		}
	}

	// what is registered twice fails
	private static List<String> pools() throws JMException {
		return ManagementFactory.getPlatformMBeanServer()
			.queryNames(new ObjectName("com.zaxxer.hikari:*"), null)
			.stream()
			.map(ObjectName::getCanonicalName)
			.toList();
	}

	private static HeldLock lock(ApplicationContext context) {
		return context.getBean(LockProvider.class).lock("key").orElseThrow();
	}

	private static void assertRefused(ApplicationContext context) {
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> context.getBean(MutexTemplate.class).execute(KEY, (lease) -> "ran"))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LockNotAcquiredException.Reason.HELD));
	}

	private static void awaitRefusal(ApplicationContext context) {
		MutexTemplate template = context.getBean(MutexTemplate.class);
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template.execute(LockRequest.of("other"), (lease) -> "ran"))
				.satisfies(
						(ex) -> assertThat(ex.getReason()).isEqualTo(LockNotAcquiredException.Reason.SHUTTING_DOWN)));
	}

	private Hold hold(ApplicationContext context) throws InterruptedException {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch leave = new CountDownLatch(1);
		Lease[] lease = new Lease[1];
		MutexTemplate template = context.getBean(MutexTemplate.class);
		Future<?> running = this.threads.submit(() -> template.execute(KEY, (held) -> {
			lease[0] = Leases.current().orElseThrow();
			entered.countDown();
			leave.await();
			return "done";
		}));
		entered.await();
		return new Hold(lease[0], leave, running);
	}

	private AnnotationConfigApplicationContext start(Map<String, Object> store, @Nullable ApplicationContext parent) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		Map<String, Object> properties = new HashMap<>(store);
		properties.put("mutex.namespace", this.namespace);
		properties.put("mutex.fenced.lease", LEASE.toMillis() + "ms");
		context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
		if (parent != null) {
			context.setParent(parent);
		}
		context.registerBean("meters", MeterRegistry.class, () -> this.meters);
		context.registerBean("job", Job.class, this::newJob);
		if (this.observed) {
			context.registerBean("observations", ObservationRegistry.class, ObservationRegistry::create);
		}
		switch (store.get("mutex.provider").toString()) {
			case "jdbc" -> context.register(DataSourceAutoConfiguration.class);
			case "redis" -> context.register(DataRedisAutoConfiguration.class);
			default -> {
			}
		}
		context.register(MutexAutoConfiguration.class);
		context.refresh();
		return context;
	}

	private Job newJob() {
		return new Job(this.bodies);
	}

	private record Hold(Lease lease, CountDownLatch leave, Future<?> running) {

		void end() throws Exception {
			this.leave.countDown();
			assertThat(this.running.get()).isEqualTo("done");
		}

	}

	static class Job {

		private final AtomicInteger bodies;

		Job(AtomicInteger bodies) {
			this.bodies = bodies;
		}

		@SingleRun(key = "daily", per = "forever")
		void daily() {
			this.bodies.incrementAndGet();
		}

	}

}
