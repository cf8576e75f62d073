package io.mutex.interceptor;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.LockRequest;
import io.mutex.annotation.SingleRun;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scheduler of {@code spring.threads.virtual.enabled}, which starts a thread for each
 * firing, but has one for all that is fired with a fixed delay.
 */
@Tag("compatibility")
@ExtendWith(OutputCaptureExtension.class)
class ThreadPerFiringTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final LockRequest HELD = LockRequest.of("waiting");

	private final MemoryLockProvider store = new MemoryLockProvider();

	@Test
	@DisplayName("C126 firings that overlap never run two bodies of a key, and a schedule outlives what its body throws")
	void firingsThatOverlap() {
		try (MutexContext context = start(Overlapping.class, Failing.class)) {
			Overlapping overlapping = context.bean(Overlapping.class);
			Awaitility.await().atMost(PATIENCE).until(() -> overlapping.cron().running.get() == 1);
			Awaitility.await().atMost(PATIENCE).until(() -> overlapping.rate().running.get() == 1);
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> count(context, "cron", Outcome.SKIPPED_HELD) >= 2
						&& count(context, "rate", Outcome.SKIPPED_HELD) >= 5);
			assertThat(overlapping.cron().bodies).hasValue(1);
			assertThat(overlapping.rate().bodies).hasValue(1);
			overlapping.cron().end.countDown();
			overlapping.rate().end.countDown();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> overlapping.cron().bodies.get() >= 3 && overlapping.rate().bodies.get() >= 5);
			assertThat(List.of(overlapping.cron().most.get(), overlapping.rate().most.get())).containsOnly(1);
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> count(context, "failing-rate", Outcome.FAILED) >= 3
						&& count(context, "failing-delay", Outcome.FAILED) >= 3);
		}
	}

	@Test
	@DisplayName("C126 a job that waits on the thread of the scheduler is warned of, and holds up no more than is said")
	void jobThatWaits(CapturedOutput output) throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch leave = new CountDownLatch(1);
		try (LockEngine other = new LockEngine(this.store, EngineSettings.defaults("other"), List.of());
				MutexContext context = MutexContext.on(this.store)) {
			FutureTask<String> holding = new FutureTask<>(() -> other.execute(HELD, (lease) -> {
				entered.countDown();
				leave.await();
				return "done";
			}));
			new Thread(holding).start();
			assertThat(entered.await(1, TimeUnit.MINUTES)).isTrue();
			start(context, Waiting.class);
			Counts waiting = context.bean(Waiting.class).counts();
			Awaitility.await().atMost(PATIENCE).until(() -> isAskedFor(context, "waiting"));
			int delayed = waiting.delayed.get();
			int before = waiting.rated.get();
			Awaitility.await().atMost(PATIENCE).until(() -> waiting.rated.get() >= before + 5);
			assertThat(waiting.delayed.get()).isLessThanOrEqualTo(delayed + 1);
			assertThat(waiting.bodies).hasValue(0);
			leave.countDown();
			assertThat(holding.get(1, TimeUnit.MINUTES)).isEqualTo("done");
			int freed = waiting.delayed.get();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> waiting.bodies.get() >= 2 && waiting.delayed.get() >= freed + 2);
		}
		assertThat(output.toString().lines().filter((line) -> line.contains("keeps a thread of the scheduler")))
			.singleElement()
			.asString()
			.contains("WARN", "Waiting.waiting()", "up to PT10M");
	}

	@Test
	@DisplayName("C126 a skip starts no thread")
	void skipStartsNoThread() {
		int skips = 1000;
		try (MutexContext context = start(Unscheduled.class)) {
			Unscheduled bean = context.bean(Unscheduled.class);
			bean.nested(() -> {
				Thread caller = new Thread(() -> {
					for (int i = 0; i < skips; i++) {
						bean.run();
					}
				});
				long before = ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
				caller.start();
				join(caller);
				assertThat(ManagementFactory.getThreadMXBean().getTotalStartedThreadCount() - before)
					.isLessThan(skips / 10);
			});
			bean.run();
			assertThat(context.outcomes()).filteredOn(Outcome.SKIPPED_HELD::equals).hasSize(skips);
			assertThat(context.outcomes()).filteredOn(Outcome.EXECUTED::equals).hasSize(1);
		}
	}

	private MutexContext start(Class<?>... beans) {
		return start(MutexContext.on(this.store), beans);
	}

	private static MutexContext start(MutexContext context, Class<?>... beans) {
		context.context.register(beans);
		return context.property("spring.threads.virtual.enabled", "true")
			.start((Runtime.version().feature() >= 21) ? VirtualThreads.class : PlatformThreads.class);
	}

	private static boolean isAskedFor(MutexContext context, String key) {
		synchronized (context.requests) {
			return context.requests.stream().anyMatch((request) -> request.key().equals(key));
		}
	}

	private static long count(MutexContext context, String key, Outcome outcome) {
		synchronized (context.runs) {
			return context.runs.stream().filter((run) -> run.key().equals(key) && run.outcome() == outcome).count();
		}
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@Import(TaskSchedulingAutoConfiguration.class)
	static class VirtualThreads {

	}

	/** The same scheduler, on a JDK without virtual threads. */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class PlatformThreads {

		@Bean
		TaskScheduler taskScheduler() {
			return new SimpleAsyncTaskScheduler();
		}

	}

	/** What is at a body. */
	static class Work {

		final CountDownLatch end = new CountDownLatch(1);

		final AtomicInteger bodies = new AtomicInteger();

		final AtomicInteger most = new AtomicInteger();

		final AtomicInteger running = new AtomicInteger();

		void run() throws InterruptedException {
			this.bodies.incrementAndGet();
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			assertThat(this.end.await(1, TimeUnit.MINUTES)).isTrue();
			this.running.decrementAndGet();
		}

	}

	static class Overlapping {

		private final Work cron = new Work();

		private final Work rate = new Work();

		Work cron() {
			return this.cron;
		}

		Work rate() {
			return this.rate;
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRun(key = "cron", per = "none")
		public void cronJob() throws InterruptedException {
			this.cron.run();
		}

		@Scheduled(fixedRate = 20)
		@SingleRun(key = "rate", per = "none")
		public void rateJob() throws InterruptedException {
			this.rate.run();
		}

	}

	static class Failing {

		@Scheduled(fixedRate = 20)
		@SingleRun(key = "failing-rate", per = "none")
		public void rate() {
			throw new IllegalStateException("failing on purpose");
		}

		@Scheduled(fixedDelay = 20)
		@SingleRun(key = "failing-delay")
		public void delay() {
			throw new IllegalStateException("failing on purpose");
		}

	}

	/** How often each job has run. */
	static class Counts {

		final AtomicInteger bodies = new AtomicInteger();

		final AtomicInteger delayed = new AtomicInteger();

		final AtomicInteger rated = new AtomicInteger();

	}

	static class Waiting {

		private final Counts counts = new Counts();

		Counts counts() {
			return this.counts;
		}

		@Scheduled(fixedDelay = 20)
		@SingleRun(key = "waiting", waitFor = "10m")
		public void waiting() {
			this.counts.bodies.incrementAndGet();
		}

		@Scheduled(fixedDelay = 20)
		@SingleRun(key = "delayed")
		public void delayed() {
			this.counts.delayed.incrementAndGet();
		}

		@Scheduled(fixedRate = 20)
		@SingleRun(key = "rated", per = "none")
		public void rated() {
			this.counts.rated.incrementAndGet();
		}

	}

	static class Unscheduled {

		private Runnable nested = () -> {
		};

		void nested(Runnable nested) {
			this.nested = nested;
		}

		@SingleRun("unscheduled")
		public void run() {
			this.nested.run();
		}

	}

}
