package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.FencingToken;
import io.mutex.LockProvider;
import io.mutex.annotation.CatchUp;
import io.mutex.annotation.OnHeld;
import io.mutex.annotation.OnInDoubt;
import io.mutex.annotation.SingleRun;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import io.mutex.run.RunRecord;
import io.mutex.run.RunRecord.Status;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for the calls that the starter makes itself, over instances that share a store.
 */
class RunRepeaterTests {

	private static final String CRON = "0 0 0 1 1 *";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration DELAY = Duration.ofMillis(200);

	private static final String UNIT = Instant.now().toString().substring(0, 4) + "-01-01T00:00:00Z";

	private final LockProvider store = new MemoryLockProvider();

	private final Work work = new Work();

	private final List<MutexContext> contexts = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		this.contexts.forEach(MutexContext::close);
	}

	@Test
	void failedRunIsTriedAgainUntilItSucceeds() {
		MutexContext one = instance("one");
		MutexContext other = instance("other");
		this.work.fail(2);
		fire(one, "job");
		fire(other, "job");
		awaitDone("job", 3);
		assertThat(this.work.began).hasSize(3);
		assertSpaced();
		awaitNothingPending();
		assertThat(this.work.began).hasSize(3);
	}

	@Test
	void failingRunIsTriedExactlyAsOftenAsDeclared() {
		List<MutexContext> instances = List.of(instance("one"), instance("two"), instance("three"));
		this.work.fail(99);
		instances.forEach((instance) -> fire(instance, "job"));
		awaitNothingPending();
		assertThat(record("job").status()).isEqualTo(Status.FAILED);
		assertThat(record("job").attempt()).isEqualTo(4);
		assertThat(this.work.began).hasSize(4);
		assertSpaced();
	}

	@Test
	void anotherInstanceTriesAgainWhenTheFirstHasGone() {
		MutexContext one = instance("one");
		MutexContext other = instance("other");
		this.work.fail(1);
		fire(one, "job");
		fire(other, "job");
		one.close();
		awaitDone("job", 2);
		assertThat(record("job").owner().instance()).isEqualTo("other");
	}

	@Test
	void unitOfADeadInstanceIsTakenOverWhenItsLeaseHasExpired() {
		acquire("job", UNIT, Duration.ofSeconds(2));
		MutexContext one = instance("one");
		MutexContext other = instance("other");
		fire(one, "slow");
		fire(one, "job");
		fire(other, "job");
		assertThat(one.outcomes()).endsWith(Outcome.SKIPPED_HELD);
		awaitDone("job", 2);
		assertThat(this.work.began).hasSize(1);
	}

	@Test
	void unitThatKillsItsInstancesIsNotTakenOverForEver() {
		for (int attempt = 1; attempt <= 4; attempt++) {
			this.store.release("job", acquire("job", UNIT, PATIENCE), true);
		}
		MutexContext one = instance("one");
		fire(one, "job");
		assertThat(one.outcomes()).containsExactly(Outcome.SKIPPED_IN_DOUBT);
		awaitNothingPending();
		one.bean(Jobs.class).job();
		assertThat(this.work.began).hasSize(1);
	}

	@Test
	void unitInDoubtIsReportedAndNotTriedAgainIfThePolicySaysSo() {
		acquire("in-doubt", UNIT, Duration.ofSeconds(1));
		MutexContext one = instance("one");
		fire(one, "inDoubt");
		Awaitility.await().atMost(PATIENCE).until(() -> one.outcomes().contains(Outcome.SKIPPED_IN_DOUBT));
		awaitNothingPending();
		assertThat(this.work.began).isEmpty();
	}

	@Test
	void missedUnitIsRunWhenTheOtherUnitHasEnded() {
		for (String job : List.of("job", "caughtUp")) {
			String nonce = acquire(job, "earlier", PATIENCE);
			MutexContext one = instance(job);
			fire(one, job);
			assertThat(one.runs).singleElement().satisfies((run) -> assertThat(run.isMissed()).isTrue());
			this.store.release(job, nonce, false);
			awaitDone(job, 1);
			awaitNothingPending();
		}
	}

	@Test
	void heldUnitIsLeftToItsHolderWithoutRetries() {
		acquire("caughtUp", UNIT, Duration.ofSeconds(1));
		MutexContext one = instance("one");
		fire(one, "caughtUp");
		assertThat(one.outcomes()).containsExactly(Outcome.SKIPPED_HELD);
		assertThat(pending(one)).isZero();
	}

	@Test
	void stageThatFailsIsTriedAgain() {
		MutexContext one = instance("one");
		this.work.fail(1);
		fire(one, "stage");
		awaitDone("stage", 2);
		assertThat(this.work.began).hasSize(2);
	}

	@Test
	void callByHandThatFailsIsTriedAgain() {
		MutexContext one = instance("one");
		this.work.fail(1);
		assertThatThrownBy(() -> one.bean(Jobs.class).job()).hasMessage("attempt 1");
		awaitDone("job", 2);
	}

	@Test
	void firingsOfAFixedRateKeepTheDelayAsWell() {
		MutexContext one = instance("one");
		MutexContext other = instance("other");
		this.work.fail(2);
		fire(one, "rate");
		fire(other, "rate");
		assertThat(other.outcomes()).containsExactly(Outcome.SKIPPED_FAILED);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.store.runs("rate", 1).get(0).status() == Status.DONE
					&& pending(one) + pending(other) == 0);
		assertThat(this.store.runs("rate", 9)).singleElement().returns(3, RunRecord::attempt);
		assertThat(this.work.began).hasSize(3);
		assertSpaced();
		fire(other, "rate");
		assertThat(other.outcomes()).endsWith(Outcome.SKIPPED_DONE);
	}

	@Test
	void tokenIsFilledIn() {
		MutexContext one = instance("one");
		this.work.fail(1);
		fire(one, "job");
		awaitDone("job", 2);
		this.work.fail(1);
		assertThatThrownBy(() -> one.bean(Jobs.class).token(null)).isInstanceOf(IllegalStateException.class);
		awaitDone("token", 2);
	}

	@Test
	void conditionThatFailsIsNotAskedForEver() {
		MutexContext one = instance("one");
		fire(one, "condition");
		awaitNothingPending();
		assertThat(one.outcomes()).hasSize(2).containsOnly(Outcome.FAILED);
		assertThat(this.work.began).isEmpty();
	}

	@Test
	void lookThatFindsTheKeyHeldDoesNotWaitAndDoesNotThrow() {
		String nonce = acquire("strict", UNIT, Duration.ofSeconds(2));
		MutexContext one = instance("one", Schedulers.class);
		assertThatThrownBy(() -> fire(one, "strict")).hasMessageContaining("held by");
		Awaitility.await().atMost(PATIENCE).until(() -> one.outcomes().size() > 1);
		this.store.release("strict", nonce, false);
		awaitDone("strict", 1);
		assertThat(Schedulers.errors).isEmpty();
	}

	@Test
	void nothingIsTriedAgainOnceTheInstanceStops() {
		MutexContext one = instance("one");
		this.work.fail(9);
		fire(one, "job");
		assertThat(pending(one)).isOne();
		one.bean(MutexAnnotationBeanPostProcessor.class).stopRepeating();
		assertThat(pending(one)).isZero();
		fire(one, "patient");
		assertThat(pending(one)).isZero();
		one.bean(MutexAnnotationBeanPostProcessor.class).startRepeating();
		fire(one, "patient");
		assertThat(pending(one)).isOne();
	}

	@Test
	void withoutRecordsNothingIsTriedAgain() {
		InterceptorSettings standard = InterceptorSettings.defaults();
		MutexContext one = MutexContext.on(this.store)
			.settings(new InterceptorSettings(standard.zone(), false, false, standard.singleRunLease(), null,
					standard.fencedWaitFor(), standard.fencedLease(), null, RunRetention.DEFAULT));
		this.contexts.add(one);
		one.context.registerBean(Work.class, () -> this.work);
		one.start(Jobs.class);
		this.work.fail(1);
		fire(one, "job");
		assertThat(one.outcomes()).containsExactly(Outcome.FAILED);
		assertThat(pending(one)).isZero();
	}

	@Test
	void callsAreMadeOnTheSchedulerOfTheScheduleElseOnThatOfTheApplication() {
		MutexContext one = instance("one", Schedulers.class);
		this.work.fail(1);
		fire(one, "named");
		awaitDone("named", 2);
		assertThat(this.work.threads).last().asString().startsWith("named-");
		this.work.fail(1);
		fire(one, "job");
		awaitDone("job", 2);
		assertThat(this.work.threads).last().asString().startsWith("standard-");
		MutexContext without = instance("without");
		this.work.fail(1);
		fire(without, "patient");
		assertThat(pending(without)).isOne();
		this.work.fail(1);
		fire(without, "stage");
		awaitDone("stage", 2);
		assertThat(this.work.threads).last().asString().startsWith("mutex-repeat-");
	}

	@Test
	void failureOfARetryReachesTheErrorHandlerOfTheScheduler() {
		MutexContext one = instance("one", Schedulers.class);
		this.work.fail(2);
		fire(one, "job");
		awaitDone("job", 3);
		assertThat(Schedulers.errors).singleElement().satisfies((error) -> assertThat(error).hasMessage("attempt 2"));
	}

	@Test
	@DisplayName("C39 a failed run does not use up the period")
	void failedRunDoesNotUseUpThePeriod() {
		MutexContext one = instance("one");
		Jobs jobs = one.bean(Jobs.class);
		this.work.throwing(new java.io.IOException("checked"), new AssertionError("error"));
		assertThatThrownBy(jobs::plain).isInstanceOf(java.io.IOException.class).hasMessage("checked");
		assertThat(this.store.lock("plain")).isEmpty();
		assertThatThrownBy(jobs::plain).isInstanceOf(AssertionError.class).hasMessage("error");
		assertThat(record("plain").status()).isEqualTo(Status.FAILED);
		assertThat(record("plain").error()).isEqualTo("java.lang.AssertionError: error");
		assertThatCodeRuns(jobs);
		assertThatCodeRuns(jobs);
		assertThat(one.outcomes()).containsExactly(Outcome.FAILED, Outcome.FAILED, Outcome.EXECUTED,
				Outcome.SKIPPED_DONE);
		assertThat(record("plain").status()).isEqualTo(Status.DONE);
		assertThat(this.work.began).hasSize(3);
		assertThat(pending(one)).isZero();
	}

	@Test
	void missedUnitIsRunOnceAtStartUpByOneOfTwoInstances() {
		done("caughtUp", "earlier");
		MutexContext one = instance("one");
		MutexContext other = instance("other");
		one.catchUp();
		other.catchUp();
		awaitDone("caughtUp", 1);
		awaitNothingPending();
		assertThat(this.work.began).hasSize(1);
		instance("third").catchUp();
		awaitNothingPending();
		assertThat(this.work.began).hasSize(1);
	}

	@Test
	void unitThatDiedIsRunOnceMoreAtStartUp() {
		this.store.release("caughtUp", acquire("caughtUp", UNIT, PATIENCE), true);
		instance("one").catchUp();
		awaitDone("caughtUp", 2);
	}

	@Test
	void unitWhoseHolderMayHaveDiedIsRunWhenItsLeaseHasExpired() {
		acquire("caughtUp", UNIT, Duration.ofSeconds(2));
		MutexContext one = instance("one").catchUp();
		awaitDone("caughtUp", 2);
		assertThat(one.outcomes()).containsExactly(Outcome.SKIPPED_HELD, Outcome.EXECUTED);
	}

	@Test
	void unitThatDiesAgainAndAgainIsLeftAlone() {
		this.store.release("caughtUp", acquire("caughtUp", UNIT, PATIENCE), true);
		this.store.release("caughtUp", acquire("caughtUp", UNIT, PATIENCE), true);
		assertNotCaughtUp();
	}

	@Test
	void jobThatHasNeverRunIsNotCaughtUp() {
		assertNotCaughtUp();
	}

	@Test
	void unitThatFailedIsNotCaughtUp() {
		MutexContext one = instance("one");
		this.work.fail(1);
		fire(one, "caughtUp");
		this.work.began.clear();
		assertNotCaughtUp();
	}

	private void assertNotCaughtUp() {
		MutexContext one = instance("not", Schedulers.class).catchUp();
		ThreadPoolTaskScheduler scheduler = one.context.getBean("standard", ThreadPoolTaskScheduler.class);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> scheduler.getScheduledThreadPoolExecutor().getCompletedTaskCount() > 0);
		assertThat(one.outcomes()).isEmpty();
		assertThat(pending(one)).isZero();
		assertThat(this.work.began).isEmpty();
	}

	private static void assertThatCodeRuns(Jobs jobs) {
		try {
			jobs.plain();
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	private MutexContext instance(String name, Class<?>... more) {
		MutexContext context = MutexContext.on(this.store, name);
		this.contexts.add(context);
		context.context.registerBean(Work.class, () -> this.work);
		if (more.length > 0) {
			context.context.register(more);
		}
		return context.start(Jobs.class);
	}

	private void fire(MutexContext context, String name) {
		Jobs jobs = context.bean(Jobs.class);
		try {
			Method method = jobs.getClass().getMethod(name);
			new ScheduledMethodRunnable(jobs, method).run();
		}
		catch (NoSuchMethodException ex) {
			throw new AssertionError(ex);
		}
		catch (IllegalStateException ex) {
			assertThat(ex).hasMessageStartingWith("attempt");
		}
		catch (RuntimeException ex) {
			if (!String.valueOf(ex.getMessage()).contains("unless")) {
				throw ex;
			}
		}
	}

	private String acquire(String key, String unit, Duration ttl) {
		String nonce = java.util.UUID.randomUUID().toString().replace("-", "");
		assertThat(this.store.acquire(new AcquireRequest(key, key, nonce, new Owner("dead", "host", 2, "main"), ttl, 0,
				RunUnit.of(unit), 0, 1)))
			.isInstanceOf(Acquisition.Granted.class);
		return nonce;
	}

	private void done(String key, String unit) {
		String nonce = acquire(key, unit, PATIENCE);
		long token = this.store.lock(key).orElseThrow().token();
		this.store.complete(new LockProvider.Grant(key, nonce, token, PATIENCE), unit);
	}

	private RunRecord record(String key) {
		return this.store.runs(key, 9)
			.stream()
			.filter((run) -> run.unit().equals(UNIT))
			.findFirst()
			.orElseThrow(() -> new AssertionError("no run of " + key));
	}

	private void awaitDone(String key, int attempt) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(record(key).status()).isEqualTo(Status.DONE);
			assertThat(record(key).attempt()).isEqualTo(attempt);
		});
	}

	private void awaitNothingPending() {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.contexts.stream().allMatch((context) -> pending(context) == 0)
					&& this.store.locks(9).isEmpty());
	}

	private static int pending(MutexContext context) {
		return context.bean(MutexAnnotationBeanPostProcessor.class).repeater().pending();
	}

	private void assertSpaced() {
		List<Instant> began = List.copyOf(this.work.began);
		for (int index = 1; index < began.size(); index++) {
			assertThat(Duration.between(began.get(index - 1), began.get(index))).isGreaterThanOrEqualTo(DELAY);
		}
	}

	/** What the jobs of all instances do. */
	static class Work {

		final Queue<Instant> began = new ConcurrentLinkedQueue<>();

		final List<String> threads = new CopyOnWriteArrayList<>();

		private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

		private int attempts;

		synchronized void fail(int times) {
			this.failures.clear();
			this.attempts = 0;
			for (int count = 1; count <= times; count++) {
				this.failures.add(new IllegalStateException());
			}
		}

		void throwing(Throwable... failures) {
			this.failures.addAll(List.of(failures));
		}

		void run() throws Exception {
			this.began.add(Instant.now());
			this.threads.add(Thread.currentThread().getName());
			Throwable failure = next();
			if (failure instanceof Error error) {
				throw error;
			}
			if (failure != null) {
				throw (Exception) failure;
			}
		}

		private synchronized Throwable next() {
			this.attempts++;
			Throwable failure = this.failures.poll();
			return (failure instanceof IllegalStateException) ? new IllegalStateException("attempt " + this.attempts)
					: failure;
		}

	}

	static class Jobs {

		private final Work work;

		Jobs(Work work) {
			this.work = work;
		}

		private void run() {
			try {
				this.work.run();
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new AssertionError(ex);
			}
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "job", maxRetries = 3, delay = "200ms", lease = "5s")
		public void job() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "patient", maxRetries = 3, delay = "1h")
		public void patient() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "slow", maxRetries = 1)
		public void slow() {
		}

		@Scheduled(cron = CRON, zone = "UTC", scheduler = "named")
		@SingleRun(key = "named", maxRetries = 1, delay = "10ms")
		public void named() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "in-doubt", maxRetries = 3, delay = "100ms", onInDoubt = OnInDoubt.SKIP)
		public void inDoubt() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "strict", maxRetries = 3, delay = "100ms", onHeld = OnHeld.FAIL, waitFor = "10ms")
		public void strict() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "condition", maxRetries = 1, delay = "10ms", unless = "null")
		public void condition() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "caughtUp", catchUp = CatchUp.LAST, lease = "1s")
		public void caughtUp() {
			run();
		}

		@Scheduled(fixedRate = 3_600_000)
		@SingleRun(key = "rate", maxRetries = 2, delay = "200ms", lease = "2s")
		public void rate() {
			run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "plain", per = "tick")
		public void plain() throws Exception {
			this.work.run();
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "stage", maxRetries = 1, delay = "10ms")
		public CompletionStage<String> stage() {
			return CompletableFuture.supplyAsync(() -> {
				run();
				return "done";
			}, (task) -> new Thread(task, Thread.currentThread().getName()).start());
		}

		@Scheduled(cron = CRON, zone = "UTC")
		@SingleRun(key = "token", maxRetries = 1, delay = "10ms")
		public void token(FencingToken token) {
			assertThat(token.value()).isPositive();
			run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Schedulers {

		static final List<Throwable> errors = new CopyOnWriteArrayList<>();

		@Bean(defaultCandidate = false)
		TaskScheduler named() {
			return scheduler("named-");
		}

		@Bean
		TaskScheduler standard() {
			errors.clear();
			ThreadPoolTaskScheduler scheduler = scheduler("standard-");
			scheduler.setErrorHandler(errors::add);
			return scheduler;
		}

		private static ThreadPoolTaskScheduler scheduler(String prefix) {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setThreadNamePrefix(prefix);
			return scheduler;
		}

	}

}
