package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.mutex.LockNotAcquiredException;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.annotation.SingleRun;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import io.mutex.run.RunRecord;
import org.aopalliance.intercept.MethodInterceptor;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for calls of scheduled methods: which unit they belong to, and who made them.
 */
class ScheduledCallTests {

	private static final Instant MIDNIGHT = Instant.parse("2026-11-30T00:00:00Z");

	private final AtomicReference<Instant> now = new AtomicReference<>(MIDNIGHT);

	private final TickWait clock = new TickWait(this.now::get,
			(time) -> this.now.updateAndGet((instant) -> instant.plus(time.dividedBy(2)).plusNanos(1)));

	@Test
	@DisplayName("C43 a timer that fires a moment early waits, and belongs to the tick ahead")
	void earlyTimerBelongsToTheTickAhead() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider(new MovingClock(this.now));
		try (MutexContext one = MutexContext.on(store).tickWait(this.clock).start(Daily.class);
				MutexContext other = MutexContext.on(store).tickWait(this.clock).start(Daily.class)) {
			this.now.set(MIDNIGHT.minus(Duration.ofHours(24)));
			fire(one, "perTick");
			assertUnit(one.lastRequest(), "2026-11-29T00:00:00Z", 1);
			this.now.set(MIDNIGHT.minusMillis(2));
			fire(one, "perTick");
			assertThat(this.now.get()).isAfterOrEqualTo(MIDNIGHT).isBefore(MIDNIGHT.plusMillis(1));
			assertUnit(one.lastRequest(), "2026-11-30T00:00:00Z", 1);
			fire(other, "perTick");
			fire(one, "perTick");
			assertThat(one.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.EXECUTED, Outcome.SKIPPED_DONE);
			assertThat(other.runs).extracting(MutexListener.Run::outcome).containsExactly(Outcome.SKIPPED_DONE);
		}
	}

	@Test
	@DisplayName("C43 a calendar day of a scheduled method is that of its tick")
	void calendarUnitIsThatOfTheTick() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider(new MovingClock(this.now));
		try (MutexContext context = MutexContext.on(store).tickWait(this.clock).start(Daily.class)) {
			this.now.set(MIDNIGHT.minusMillis(2));
			fire(context, "perDay");
			assertUnit(context.lastRequest(), "2026-11-30", 1);
			this.now.set(MIDNIGHT.plus(Duration.ofHours(12)));
			fire(context, "perDay");
			assertUnit(context.lastRequest(), "2026-11-30", 1);
			context.bean(Daily.class).perDay();
			assertUnit(context.lastRequest(), "2026-11-30", 0);
			this.now.set(MIDNIGHT.plus(Duration.ofDays(1)).minusMillis(2));
			context.bean(Daily.class).perDay();
			assertUnit(context.lastRequest(), "2026-11-30", 0);
		}
	}

	@Test
	void callByHandBelongsToTheLatestTick() {
		try (MutexContext context = MutexContext.create().tickWait(this.clock).start(Daily.class)) {
			this.now.set(MIDNIGHT.minusMillis(2));
			context.bean(Daily.class).perTick();
			assertUnit(context.lastRequest(), "2026-11-29T00:00:00Z", 0);
			assertThat(this.now.get()).isEqualTo(MIDNIGHT.minusMillis(2));
		}
	}

	@Test
	void interruptedWaitForTheTickRunsNothing() throws Exception {
		try (MutexContext context = MutexContext.create().tickWait(this.clock).start(Daily.class)) {
			this.now.set(MIDNIGHT.minusMillis(2));
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> fire(context, "perTick"))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(context.requests).isEmpty();
		}
	}

	@Test
	void failedAttemptOfTheSchedulerIsNotRepeatedAtTheSameTick() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider();
		try (MutexContext one = MutexContext.on(store).tickWait(this.clock).start(Daily.class);
				MutexContext other = MutexContext.on(store).tickWait(this.clock).start(Daily.class)) {
			assertThatIllegalStateException().isThrownBy(() -> fire(one, "failing"));
			fire(other, "failing");
			assertThat(other.runs).extracting(MutexListener.Run::outcome).containsExactly(Outcome.SKIPPED_FAILED);
			assertThatIllegalStateException().isThrownBy(() -> other.bean(Daily.class).failing());
		}
	}

	@Test
	void laterFiringInTheSameUnitTriesItAgainOnceOverAllInstances() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider(new MovingClock(this.now));
		try (MutexContext one = MutexContext.on(store).tickWait(this.clock).start(Daily.class);
				MutexContext other = MutexContext.on(store).tickWait(this.clock).start(Daily.class)) {
			for (int firing = 1; firing <= 2; firing++) {
				assertThatIllegalStateException().isThrownBy(() -> fire(one, "failingPerDay"));
				this.now.updateAndGet((instant) -> instant.plusMillis(10));
				fire(other, "failingPerDay");
				assertThat(store.runs("failing-per-day", 9)).singleElement().returns(firing, RunRecord::attempt);
				this.now.set(MIDNIGHT.plus(Duration.ofHours(12)));
			}
			assertThat(other.outcomes()).containsExactly(Outcome.SKIPPED_FAILED, Outcome.SKIPPED_FAILED);
		}
	}

	@Test
	void periodFollowsFromTheSchedule() {
		try (MutexContext context = MutexContext.create()
			.property("off", "-")
			.property("cron", "0 0 0 * * *")
			.property("rate", "5")
			.tickWait(this.clock)
			.start(Periods.class)) {
			Periods bean = context.bean(Periods.class);
			bean.cron();
			assertUnit(context.lastRequest(), "2026-11-30T00:00:00Z", 0);
			bean.zoned();
			assertUnit(context.lastRequest(), "2026-11-29T15:00:00Z", 0);
			bean.zonedDay();
			assertUnit(context.lastRequest(), "2026-11-30", 0);
			bean.rate();
			assertThat(context.lastRequest().unit().within()).isEqualTo(Duration.ofSeconds(9).plusMillis(500));
			bean.rateText();
			assertThat(context.lastRequest().unit().within()).isEqualTo(Duration.ofMinutes(5).minusSeconds(1));
			bean.several();
			assertUnit(context.lastRequest(), "2026-11-29T21:00:00Z", 0);
			for (Runnable withoutUnit : new Runnable[] { bean::delay, bean::disabled, bean::unscheduled }) {
				withoutUnit.run();
				assertThat(context.lastRequest().unit()).isNull();
			}
		}
	}

	@Test
	void impossibleSchedulesAreRefused() {
		assertThat(MutexContext.create().refusal(TickWithoutSchedule.class).getMessage())
			.contains("has no cron schedule");
		assertThat(MutexContext.create().refusal(NeverFires.class).getMessage()).contains("never fires");
		assertThat(MutexContext.create().refusal(BadCron.class).getMessage()).contains("is no cron expression");
	}

	@Test
	void callerIsRecognized() throws Exception {
		try (MutexContext context = MutexContext.create()
			.tickWait(this.clock)
			.start(Asynchronous.class, Daily.class, Caller.class, AsyncDaily.class)) {
			Daily bean = context.bean(Daily.class);
			((Advised) bean).addAdvice(0, (MethodInterceptor) (invocation) -> invocation.proceed());
			fire(context, "perTick");
			assertThat(context.lastRequest().attempts().expected()).isOne();
			fire(context.bean(Caller.class), "callByHand");
			assertThat(context.lastRequest().attempts().expected()).isZero();
			fire(context.bean(Caller.class), "callByReference");
			assertThat(context.lastRequest().attempts().expected()).isZero();
			CompletableFuture.runAsync(bean::perTick).get(30, TimeUnit.SECONDS);
			assertThat(context.lastRequest().attempts().expected()).isZero();
			fire(context.bean(AsyncDaily.class), "run");
			Awaitility.await().untilAsserted(() -> assertThat(context.lastRequest().key()).isEqualTo("async"));
			assertThat(context.lastRequest().attempts().expected()).isOne();
		}
	}

	@Test
	@DisplayName("C09 a scheduler that wraps every task runs the job once over two instances")
	void wrappedTasksAreProtected() {
		assertRunsOncePerTick(WrappingScheduler.class);
	}

	@Test
	@DisplayName("C10 an own scheduler pool runs the job once over two instances, and two keys in parallel")
	void ownSchedulerPoolIsProtected() {
		assertRunsOncePerTick(OwnPool.class);
	}

	private static void assertRunsOncePerTick(Class<?> scheduling) {
		MemoryLockProvider store = new MemoryLockProvider();
		Log log = new Log();
		try (MutexContext one = MutexContext.on(store); MutexContext other = MutexContext.on(store)) {
			for (MutexContext context : new MutexContext[] { one, other }) {
				context.context.registerBean(Log.class, () -> log);
				context.start(scheduling, EachSecond.class);
			}
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> log.runs.get() >= 3);
			log.parallel.countDown();
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> log.met.get() > 0);
		}
		assertThat(one(store)).isEqualTo(log.runs.get());
		assertThat(log.schedulerCalls).hasValue(log.runs.get());
	}

	private static long one(MemoryLockProvider store) {
		return store.runs("each-second", 1000).stream().map((run) -> run.unit()).distinct().count();
	}

	private static void assertUnit(LockRequest request, String unit, int attempt) {
		assertThat(request.unit()).isNotNull().satisfies((found) -> assertThat(found.id()).isEqualTo(unit));
		assertThat(request.attempts().expected()).isEqualTo(attempt);
	}

	private static void fire(MutexContext context, String method) throws Exception {
		fire(context.bean(Daily.class), method);
	}

	private static void fire(Object bean, String name) throws Exception {
		Method method = bean.getClass().getMethod(name);
		new ScheduledMethodRunnable(bean, method).run();
	}

	static class Daily {

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRun("per-tick")
		public void perTick() {
		}

		@Scheduled(cron = "0 0 */12 * * *", zone = "UTC")
		@SingleRun(key = "per-day", per = "day")
		public void perDay() {
		}

		@Scheduled(cron = "0 0 */12 * * *", zone = "UTC")
		@SingleRun(key = "failing-per-day", per = "day")
		public void failingPerDay() {
			throw new IllegalStateException("failing");
		}

		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRun("failing")
		public void failing() {
			throw new IllegalStateException("failing");
		}

	}

	static class Caller {

		@Autowired
		private @Nullable Daily daily;

		public void callByHand() {
			daily().perTick();
		}

		public void callByReference() {
			java.util.List.of(daily()).forEach(Daily::perTick);
		}

		private Daily daily() {
			return java.util.Objects.requireNonNull(this.daily);
		}

	}

	static class AsyncDaily {

		@Async
		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		@SingleRun("async")
		public void run() {
		}

	}

	static class Periods {

		@Scheduled(cron = "${cron}", zone = "UTC")
		@SingleRun("cron")
		public void cron() {
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Seoul")
		@SingleRun("zoned")
		public void zoned() {
		}

		@Scheduled(cron = "${cron}", zone = "Asia/Seoul")
		@SingleRun(key = "zoned-day", per = "day")
		public void zonedDay() {
		}

		@Scheduled(fixedRate = 10, timeUnit = TimeUnit.SECONDS)
		@SingleRun("rate")
		public void rate() {
		}

		@Scheduled(fixedRateString = "${rate}", timeUnit = TimeUnit.MINUTES)
		@SingleRun("rate-text")
		public void rateText() {
		}

		@Scheduled(cron = "0 0 9 * * *", zone = "UTC")
		@Scheduled(cron = "0 0 21 * * *", zone = "UTC")
		@Scheduled(fixedRate = 5)
		@SingleRun("several")
		public void several() {
		}

		@Scheduled(fixedDelay = 5)
		@SingleRun("delay")
		public void delay() {
		}

		@Scheduled(cron = "${off}")
		@SingleRun("disabled")
		public void disabled() {
		}

		@SingleRun("unscheduled")
		public void unscheduled() {
		}

	}

	static class TickWithoutSchedule {

		@SingleRun(key = "a", per = "tick")
		public void run() {
		}

	}

	static class NeverFires {

		@Scheduled(cron = "0 0 0 30 2 *")
		@SingleRun("a")
		public void run() {
		}

	}

	static class BadCron {

		@Scheduled(cron = "0 0 0")
		@SingleRun("a")
		public void run() {
		}

	}

	/** What two applications do together. */
	static class Log {

		final AtomicInteger runs = new AtomicInteger();

		final AtomicInteger schedulerCalls = new AtomicInteger();

		final AtomicInteger met = new AtomicInteger();

		final CountDownLatch parallel = new CountDownLatch(1);

		final CyclicBarrier barrier = new CyclicBarrier(2);

		void meet() {
			if (this.parallel.getCount() > 0) {
				return;
			}
			try {
				this.barrier.await(20, TimeUnit.SECONDS);
				this.met.incrementAndGet();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	static class EachSecond {

		private final Log log;

		EachSecond(Log log) {
			this.log = log;
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRun("each-second")
		public void run() {
			this.log.runs.incrementAndGet();
			if (SchedulerCalls.isCurrent()) {
				this.log.schedulerCalls.incrementAndGet();
			}
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRun("left")
		public void left() {
			this.log.meet();
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRun("right")
		public void right() {
			this.log.meet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class WrappingScheduler {

		@Bean(destroyMethod = "shutdownNow")
		ScheduledThreadPoolExecutor threads() {
			return new ScheduledThreadPoolExecutor(4);
		}

		@Bean
		TaskScheduler taskScheduler(ScheduledThreadPoolExecutor threads) {
			ConcurrentTaskScheduler scheduler = new ConcurrentTaskScheduler(threads) {

				@Override
				public java.util.concurrent.@Nullable ScheduledFuture<?> schedule(Runnable task,
						org.springframework.scheduling.Trigger trigger) {
					return super.schedule(new Wrapper(task), trigger);
				}

			};
			scheduler.setTaskDecorator(Wrapper::new);
			return scheduler;
		}

	}

	private record Wrapper(Runnable task) implements Runnable {

		@Override
		public void run() {
			this.task.run();
		}

	}

	@Configuration
	@EnableScheduling
	static class OwnPool implements SchedulingConfigurer {

		@Bean
		ThreadPoolTaskScheduler pool() {
			ThreadPoolTaskScheduler pool = new ThreadPoolTaskScheduler();
			pool.setPoolSize(10);
			return pool;
		}

		@Override
		public void configureTasks(ScheduledTaskRegistrar registrar) {
			registrar.setTaskScheduler(pool());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Asynchronous {

		@Bean
		TaskExecutor taskExecutor() {
			return new SimpleAsyncTaskExecutor();
		}

	}

}
