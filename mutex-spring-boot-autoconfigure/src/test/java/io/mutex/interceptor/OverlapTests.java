package io.mutex.interceptor;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Firings that come while the job still runs, on a scheduler that starts a thread for
 * each, and a job that leaves its scheduler no thread.
 */
class OverlapTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Test
	@DisplayName("C50 firings during a slow run do not queue up: each is skipped at once")
	void firingsDuringASlowRunAreSkippedAtOnce() {
		Work work = new Work();
		try (MutexContext context = start(work, Skipping.class)) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> context.outcomes().stream().filter(Outcome.SKIPPED_HELD::equals).count() >= 5);
			assertThat(work.bodies).hasValue(1);
			Awaitility.await().atMost(PATIENCE).until(() -> work.calling.get() == 1);
			work.end.countDown();
			Awaitility.await().atMost(PATIENCE).until(() -> context.outcomes().contains(Outcome.EXECUTED));
			assertThat(work.most).hasValue(1);
		}
	}

	@Test
	@DisplayName("C50 firings that wait for a slow run belong to the unit of their call, and find it done")
	void firingsThatWaitFindTheUnitDone() {
		Work work = new Work();
		try (MutexContext context = start(work, Waiting.class)) {
			Awaitility.await().atMost(PATIENCE).until(() -> work.calling.get() >= 5);
			assertThat(context.outcomes()).isEmpty();
			work.end.countDown();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> context.outcomes().stream().filter(Outcome.SKIPPED_DONE::equals).count() >= 4);
			assertThat(context.outcomes()).filteredOn(Outcome.EXECUTED::equals).hasSize(1);
			assertThat(work.bodies).hasValue(1);
			assertThat(work.most).hasValue(1);
		}
	}

	@Test
	@DisplayName("P6 a job that takes the only thread of the scheduler for longer than its lease keeps it")
	void renewalsNeedNoThreadOfTheScheduler() {
		try (MutexContext context = MutexContext.of(OneThread.class, Longer.class)) {
			Awaitility.await().atMost(PATIENCE).until(() -> !context.outcomes().isEmpty());
			assertThat(context.outcomes()).startsWith(Outcome.EXECUTED);
			assertThat(context.bean(Longer.class).others()).isZero();
		}
	}

	private static MutexContext start(Work work, Class<?> job) {
		MutexContext context = MutexContext.create();
		context.context.registerBean(Work.class, () -> work);
		return context.start(ThreadForEachFiring.class, job);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class ThreadForEachFiring {

		@Bean
		TaskScheduler taskScheduler(Work work) {
			SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
			scheduler.setTaskDecorator((task) -> () -> {
				work.calling.incrementAndGet();
				try {
					task.run();
				}
				finally {
					work.calling.decrementAndGet();
				}
			});
			return scheduler;
		}

	}

	/** What the job does, and who is at it. */
	static class Work {

		final CountDownLatch end = new CountDownLatch(1);

		final AtomicInteger bodies = new AtomicInteger();

		final AtomicInteger most = new AtomicInteger();

		final AtomicInteger calling = new AtomicInteger();

		private final AtomicInteger running = new AtomicInteger();

		void run() throws InterruptedException {
			this.bodies.incrementAndGet();
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			if (!this.end.await(60, TimeUnit.SECONDS)) {
				throw new AssertionError("waited in vain");
			}
			this.running.decrementAndGet();
		}

	}

	static class Skipping {

		private final Work work;

		Skipping(Work work) {
			this.work = work;
		}

		@Scheduled(fixedRate = 50)
		@SingleRun(key = "sync", per = "1m")
		public void sync() throws InterruptedException {
			this.work.run();
		}

	}

	static class Waiting {

		private final Work work;

		Waiting(Work work) {
			this.work = work;
		}

		@Scheduled(fixedRate = 50)
		@SingleRun(key = "sync", per = "1m", waitFor = "10m")
		public void sync() throws InterruptedException {
			this.work.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class OneThread {

		@Bean
		TaskScheduler taskScheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(1);
			return scheduler;
		}

	}

	static class Longer {

		private final AtomicInteger others = new AtomicInteger();

		private final AtomicBoolean running = new AtomicBoolean();

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@SingleRun(key = "sync", per = "forever", lease = "3s")
		public void sync() {
			this.running.set(true);
			Lease lease = Leases.current().orElseThrow();
			AtomicReference<Duration> latest = new AtomicReference<>(lease.remaining());
			AtomicInteger renewals = new AtomicInteger();
			Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(PATIENCE).until(() -> {
				Duration remaining = lease.remaining();
				if (remaining.compareTo(latest.getAndSet(remaining)) > 0) {
					renewals.incrementAndGet();
				}
				return renewals.get() >= 4;
			});
			lease.assertValid();
			this.running.set(false);
		}

		int others() {
			return this.others.get();
		}

		@Scheduled(fixedRate = 50)
		public void other() {
			if (this.running.get()) {
				this.others.incrementAndGet();
			}
		}

	}

}
