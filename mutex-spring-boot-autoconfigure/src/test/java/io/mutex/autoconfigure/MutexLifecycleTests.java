package io.mutex.autoconfigure;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.LeaseLostException;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.StoreSetupException;
import io.mutex.engine.EngineSettings;
import io.mutex.engine.LockEngine;
import io.mutex.memory.MemoryLockProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContextException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What shutdown does to running calls, and what a pause of the context leaves.
 */
class MutexLifecycleTests {

	private static final LockRequest KEY = LockRequest.of("key");

	private final MemoryLockProvider store = new MemoryLockProvider();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final CountDownLatch entered = new CountDownLatch(1);

	private final CountDownLatch leave = new CountDownLatch(1);

	@AfterEach
	void end() {
		this.leave.countDown();
		this.threads.shutdownNow();
	}

	private AnnotationConfigApplicationContext start(String drainTimeout) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test",
					Map.of("spring.application.name", "test", "mutex.shutdown.drain-timeout", drainTimeout)));
		context.registerBean(LockProvider.class, this::closing);
		context.register(MutexAutoConfiguration.class, MutexAutoConfigurationTests.Job.class);
		context.refresh();
		return context;
	}

	private LockProvider closing() {
		return (LockProvider) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { LockProvider.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("close")) {
						this.closed.set(true);
					}
					return method.invoke(this.store, arguments);
				});
	}

	private Future<String> runBody(MutexTemplate template) {
		return this.threads.submit(() -> template.execute(KEY, (lease) -> {
			this.entered.countDown();
			this.leave.await();
			assertThat(this.closed).isFalse();
			return "done";
		}));
	}

	@Test
	void shutdownRefusesNewCallsAndLetsRunningOnesEndBeforeTheStoreCloses() throws Exception {
		AnnotationConfigApplicationContext context = start("20s");
		MutexTemplate template = context.getBean(MutexTemplate.class);
		Future<String> running = runBody(template);
		this.entered.await();
		Future<?> closing = this.threads.submit(context::close);
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template.execute(LockRequest.of("other"), (lease) -> "ran"))
				.satisfies((refused) -> assertThat(refused.getReason()).isEqualTo(Reason.SHUTTING_DOWN)));
		assertThat(closing).isNotDone();
		this.leave.countDown();
		assertThat(running.get(1, TimeUnit.MINUTES)).isEqualTo("done");
		closing.get(1, TimeUnit.MINUTES);
		assertThat(this.closed).isTrue();
		assertThat(this.store.lock("key")).isEmpty();
	}

	@Test
	void shutdownLosesTheLeaseOfACallThatDoesNotEndAndLeavesItToExpire() throws Exception {
		AnnotationConfigApplicationContext context = start("300ms");
		Future<String> running = runBody(context.getBean(MutexTemplate.class));
		this.entered.await();
		context.close();
		assertThat(running).failsWithin(Duration.ofMinutes(1))
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(InterruptedException.class)
			.satisfies((failure) -> assertThat(failure.getCause().getSuppressed())
				.hasAtLeastOneElementOfType(LeaseLostException.class));
		assertThat(this.store.lock("key")).isPresent();
	}

	@Test
	void aFailedStartAsksForTheStoreOnceOnly() {
		AtomicInteger asked = new AtomicInteger();
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(LockProvider.class, () -> {
			asked.incrementAndGet();
			throw new StoreSetupException("No choice.", "Choose.", null);
		}, (definition) -> definition.setLazyInit(true));
		context.register(MutexAutoConfiguration.class, MutexAutoConfigurationTests.Job.class);
		assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(context::refresh)
			.withRootCauseInstanceOf(StoreSetupException.class);
		assertThat(asked).hasValue(1);
	}

	@Test
	void worksAgainAfterAPauseOfTheContext() {
		try (AnnotationConfigApplicationContext context = start("1s")) {
			MutexTemplate template = context.getBean(MutexTemplate.class);
			context.stop();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template.execute(KEY, (lease) -> "ran"));
			context.start();
			String result = template.execute(KEY, (lease) -> "ran");
			assertThat(result).isEqualTo("ran");
		}
	}

	@Test
	void drainsAnEngineOfTheApplicationThatIsMadeAtItsFirstUse() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
				LockEngine engine = new LockEngine(this.store, EngineSettings.defaults("own"), List.of())) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("test", Map.of("spring.application.name", "test")));
			context.registerBean("own", MutexTemplate.class, () -> engine,
					(definition) -> definition.setLazyInit(true));
			context.register(MutexAutoConfiguration.class, MutexAutoConfigurationTests.Job.class);
			context.refresh();
			MutexTemplate template = context.getBean(MutexTemplate.class);
			context.stop();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> template.execute(KEY, (lease) -> "ran"));
		}
	}

}
