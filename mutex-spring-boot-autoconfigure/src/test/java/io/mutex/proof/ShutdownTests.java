package io.mutex.proof;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.MutexTemplate;
import io.mutex.annotation.SingleRun;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.proof.Instance.Task;
import io.mutex.run.Outcome;
import io.mutex.testing.JavaProcess;
import io.mutex.testing.TestServer;
import io.mutex.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that is closed while a scheduled job runs, and the process that wants
 * the key next. Were it not released, it would be held for ten minutes.
 */
@Tag("compatibility")
class ShutdownTests {

	@TempDir
	static Path effects;

	private static JavaProcess other;

	@BeforeAll
	static void start() {
		other = Instance.start("other");
	}

	@AfterAll
	static void stop() {
		other.close();
	}

	static Stream<Arguments> applications() {
		List<Arguments> applications = new ArrayList<>();
		for (Connection connection : Connection.values()) {
			for (Scheduler scheduler : Scheduler.values()) {
				if (scheduler != Scheduler.VIRTUAL || Runtime.version().feature() >= 21) {
					applications.add(Arguments.of(connection, scheduler));
				}
			}
		}
		return applications.stream();
	}

	@ParameterizedTest
	@MethodSource("applications")
	@DisplayName("C121 the store is closed after the running job, whose record and release are seen by the next process")
	void storeOutlivesTheRunningJob(Connection connection, Scheduler scheduler) throws Exception {
		String namespace = "closing-" + UUID.randomUUID();
		Place place = connection.prepare(effects);
		Job job = new Job();
		Outcomes outcomes = new Outcomes();
		AnnotationConfigApplicationContext context = start(place, namespace, scheduler, job, outcomes);
		Instance.open(other, connection.store, place.address(), namespace);
		MutexTemplate template = context.getBean(MutexTemplate.class);
		assertThat(job.entered.await(1, TimeUnit.MINUTES)).isTrue();
		assertThat(run(connection, namespace, "u2")).isEqualTo("SKIPPED_HELD");
		CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
		Awaitility.await()
			.atMost(Site.PATIENCE)
			.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template.execute(LockRequest.of("new"), (lease) -> "ran"))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.SHUTTING_DOWN)));
		int ticks = job.ticks.get();
		assertThat(run(connection, namespace, "u3")).isEqualTo("SKIPPED_HELD");
		assertThat(closed).isNotDone();
		job.leave.countDown();
		closed.get(1, TimeUnit.MINUTES);
		assertThat(job.ended).isEqualTo(List.of("ended"));
		assertThat(job.ticks).hasValue(ticks);
		assertThat(outcomes.heard).filteredOn((outcome) -> outcome.startsWith("closing "))
			.containsExactly("closing " + Outcome.EXECUTED);
		assertThat(run(connection, namespace, "u1")).isEqualTo("SKIPPED_DONE");
		assertThat(run(connection, namespace, "u4")).isEqualTo("EXECUTED");
	}

	// another process, which does not wait
	private static String run(Connection connection, String namespace, String unit) {
		String id = namespace + "-" + unit;
		other.sendLine(Task.of(connection.store, "closing", unit, effects).withId(id).toString());
		return Site.ended(other, id);
	}

	private static AnnotationConfigApplicationContext start(Place place, String namespace, Scheduler scheduler, Job job,
			Outcomes outcomes) {
		Map<String, Object> properties = new HashMap<>(place.properties());
		properties.putAll(
				Map.of("mutex.namespace", namespace, "mutex.single-run.lease", "10m", "spring.threads.virtual.enabled",
						scheduler == Scheduler.VIRTUAL, "spring.lifecycle.timeout-per-shutdown-phase", "60s"));
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
		context.registerBean(Job.class, () -> job);
		context.registerBean(Outcomes.class, () -> outcomes);
		context.register(scheduler.configuration, DataSourceAutoConfiguration.class, DataRedisAutoConfiguration.class,
				MutexAutoConfiguration.class);
		context.refresh();
		return context;
	}

	/**
	 * Where the locks of an application are.
	 *
	 * @param address for other processes
	 * @param properties for the application
	 */
	record Place(String address, Map<String, Object> properties) {

	}

	enum Connection {

		HIKARI(Store.POSTGRESQL) {

			@Override
			Place prepare(Path directory) {
				String url = this.store.prepare(directory);
				return new Place(url, Map.of("mutex.provider", "jdbc", "spring.datasource.url", url));
			}

		},

		LETTUCE(Store.REDIS), JEDIS(Store.REDIS);

		final Store store;

		Connection(Store store) {
			this.store = store;
		}

		Place prepare(Path directory) {
			TestServer redis = TestServers.redis();
			return new Place(this.store.prepare(directory),
					Map.of("mutex.provider", "redis", "spring.datasource.url", "jdbc:h2:mem:unused",
							"spring.data.redis.host", redis.host(), "spring.data.redis.port", redis.port(),
							"spring.data.redis.client-type", name().toLowerCase(Locale.ROOT)));
		}

	}

	enum Scheduler {

		DEFAULT(Default.class), VIRTUAL(Default.class), OWN_POOL(OwnPool.class), OWN_EXECUTOR(OwnExecutor.class),
		THREAD_PER_FIRING(ThreadPerFiring.class);

		private final Class<?> configuration;

		Scheduler(Class<?> configuration) {
			this.configuration = configuration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@Import(TaskSchedulingAutoConfiguration.class)
	static class Default {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class OwnPool {

		@Bean
		ThreadPoolTaskScheduler pool() {
			ThreadPoolTaskScheduler pool = new ThreadPoolTaskScheduler();
			pool.setPoolSize(4);
			return pool;
		}

		@Bean
		SchedulingConfigurer configurer(ThreadPoolTaskScheduler pool) {
			return (registrar) -> registrar.setTaskScheduler(pool);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class OwnExecutor {

		@Bean(destroyMethod = "shutdownNow")
		ScheduledThreadPoolExecutor threads() {
			return new ScheduledThreadPoolExecutor(4);
		}

		@Bean
		TaskScheduler taskScheduler(ScheduledThreadPoolExecutor threads) {
			return new ConcurrentTaskScheduler(threads);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class ThreadPerFiring {

		@Bean
		TaskScheduler taskScheduler() {
			return new SimpleAsyncTaskScheduler();
		}

	}

	static class Job {

		private final CountDownLatch entered = new CountDownLatch(1);

		private final CountDownLatch leave = new CountDownLatch(1);

		private final AtomicInteger ticks = new AtomicInteger();

		private final List<String> ended = new CopyOnWriteArrayList<>();

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
		@SingleRun(key = "closing", unit = "u1")
		public void closing() {
			this.entered.countDown();
			try {
				this.leave.await();
				this.ended.add("ended");
			}
			catch (InterruptedException ex) {
				this.ended.add("interrupted");
			}
		}

		@Scheduled(fixedRate = 100)
		@SingleRun(key = "ticking", per = "none")
		public void ticking() {
			this.ticks.incrementAndGet();
		}

	}

	private static final class Outcomes implements MutexListener {

		private final List<String> heard = new CopyOnWriteArrayList<>();

		@Override
		public void run(Run run) {
			this.heard.add(run.key() + " " + run.outcome());
		}

	}

}
