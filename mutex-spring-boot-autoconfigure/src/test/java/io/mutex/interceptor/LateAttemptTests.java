package io.mutex.interceptor;

import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.mutex.annotation.SingleRun;
import io.mutex.memory.MemoryLockProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for attempts that a scheduler makes later than they were due.
 */
class LateAttemptTests {

	private static final Instant TICK = Instant.parse("2026-01-02T03:00:00Z");

	private final AtomicReference<Instant> time = new AtomicReference<>(TICK);

	private final AtomicInteger began = new AtomicInteger();

	@ParameterizedTest
	@CsvSource({ "2026-01-03T02:59:59Z, 2", "2026-01-03T03:00:00Z, 1", "2026-01-09T03:00:00Z, 1" })
	void attemptIsNotMadeOnceTheScheduleHasFiredAgain(Instant made, int bodies) throws Exception {
		Slow scheduler = new Slow(made);
		MutexContext context = MutexContext.on(new MemoryLockProvider())
			.tickWait(new TickWait(this.time::get, (pause) -> {
			}));
		context.context.registerBean(TaskScheduler.class, () -> scheduler);
		context.context.registerBean(Runnable.class, () -> () -> {
			if (this.began.incrementAndGet() == 1) {
				throw new IllegalStateException("first");
			}
		});
		try (context) {
			context.start(Jobs.class);
			Jobs jobs = context.bean(Jobs.class);
			ScheduledMethodRunnable call = new ScheduledMethodRunnable(jobs, jobs.getClass().getMethod("run"));
			assertThatIllegalStateException().isThrownBy(call::run);
			assertThat(scheduler.ended.await(30, TimeUnit.SECONDS)).isTrue();
			assertThat(this.began).hasValue(bodies);
		}
	}

	/** Has no thread for a task before a certain time. */
	private final class Slow extends ThreadPoolTaskScheduler {

		private static final long serialVersionUID = 1L;

		private final transient CountDownLatch ended = new CountDownLatch(1);

		private final Instant made;

		Slow(Instant made) {
			this.made = made;
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Instant due) {
			return super.schedule(() -> {
				LateAttemptTests.this.time.set(this.made);
				task.run();
				this.ended.countDown();
			}, due);
		}

	}

	static class Jobs {

		private final Runnable body;

		Jobs(Runnable body) {
			this.body = body;
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		@SingleRun(key = "job", maxRetries = 1, delay = "100ms")
		public void run() {
			this.body.run();
		}

	}

}
