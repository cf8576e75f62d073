package io.mutex.interceptor;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Firings that come while the job still runs, on a scheduler that starts a thread for
 * each.
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

}
