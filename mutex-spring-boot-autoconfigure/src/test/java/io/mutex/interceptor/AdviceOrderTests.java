package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.mutex.Leases;
import io.mutex.MutexListener;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the place of the interceptor among the others, which differs from one version
 * of Spring to the next if nobody looks.
 */
@Tag("compatibility")
class AdviceOrderTests {

	private static final String[] ORDER = { "AnnotationAsyncExecutionInterceptor", "MutexInterceptor",
			"ConcurrencyLimitInterceptor", "RetryAnnotationInterceptor", "TransactionInterceptor" };

	static Stream<Arguments> registrations() {
		Class<?>[] enabling = { Transactions.class, Asynchronous.class, Resilient.class };
		Class<?>[] reversed = { Resilient.class, Asynchronous.class, Transactions.class };
		return Stream.of(Arguments.of("interceptor last", false, enabling),
				Arguments.of("interceptor last, reversed", false, reversed),
				Arguments.of("interceptor first", true, enabling),
				Arguments.of("interceptor first, reversed", true, reversed));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("registrations")
	@DisplayName("C13 the advice stands between asynchronous execution and everything else")
	void adviceOrderDoesNotDependOnRegistration(String name, boolean interceptorFirst, Class<?>[] enabling)
			throws Exception {
		try (MutexContext context = started(interceptorFirst, enabling)) {
			Work work = context.bean(Work.class);
			List<String> advice = advice(work, Work.class.getMethod("all"));
			assertThat(advice).containsSubsequence(ORDER[0], ORDER[1], ORDER[4]);
			assertThat(advice.indexOf(ORDER[1])).isLessThan(advice.indexOf(ORDER[2]))
				.isLessThan(advice.indexOf(ORDER[3]));
			assertThat(advice).containsExactlyInAnyOrder(ORDER);
			assertThat(work.all().get(30, TimeUnit.SECONDS)).isEqualTo("held by another thread, in a transaction");
		}
	}

	private static MutexContext started(boolean interceptorFirst, Class<?>[] enabling) {
		Class<?>[] beans = Stream.concat(Stream.of(enabling), Stream.of(Work.class)).toArray(Class<?>[]::new);
		return (interceptorFirst) ? MutexContext.create().startWithInterceptorFirst(beans) : MutexContext.of(beans);
	}

	private static List<String> advice(Object proxy, Method method) {
		return new DefaultAdvisorChainFactory()
			.getInterceptorsAndDynamicInterceptionAdvice((Advised) proxy, method,
					AopProxyUtils.ultimateTargetClass(proxy))
			.stream()
			.filter(MethodInterceptor.class::isInstance)
			.map(Advice.class::cast)
			.map((advice) -> AopUtils.getTargetClass(advice).getSimpleName())
			.filter((type) -> !type.startsWith("ExposeInvocation"))
			.toList();
	}

	@Test
	@DisplayName("C16 one lock spans all retries, and the unit is recorded once")
	void retriesRunUnderOneLease() {
		try (MutexContext context = MutexContext.of(Resilient.class, Work.class)) {
			Work work = context.bean(Work.class);
			work.failTwice();
			assertThat(work.attempts()).isEqualTo(3);
			work.failTwice();
			assertThat(work.attempts()).isEqualTo(3);
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.SKIPPED_DONE);
		}
	}

	@Test
	@DisplayName("C16 retries that all fail leave the unit open")
	void failedRetriesLeaveTheUnitOpen() {
		try (MutexContext context = MutexContext.of(Resilient.class, Work.class)) {
			Work work = context.bean(Work.class);
			assertThatIllegalStateException().isThrownBy(work::failAlways);
			assertThatIllegalStateException().isThrownBy(work::failAlways);
			assertThat(work.attempts()).isEqualTo(6);
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.FAILED, Outcome.FAILED);
		}
	}

	static class Work {

		private final AtomicInteger attempts = new AtomicInteger();

		public int attempts() {
			return this.attempts.get();
		}

		@Async
		@Fenced("all")
		@ConcurrencyLimit(1)
		@Retryable
		@Transactional
		public CompletableFuture<String> all() {
			Leases.assertHeld("all");
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			return CompletableFuture.completedFuture("held by another thread, in a transaction");
		}

		@SingleRun(key = "import", per = "day")
		@Retryable(maxRetries = 2, delay = 1)
		public void failTwice() {
			Leases.assertHeld("import");
			if (this.attempts.incrementAndGet() < 3) {
				throw new IllegalStateException("not yet");
			}
		}

		@SingleRun(key = "hopeless", per = "day")
		@Retryable(maxRetries = 2, delay = 1)
		public void failAlways() {
			this.attempts.incrementAndGet();
			throw new IllegalStateException("never");
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

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Resilient {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

		@Bean
		PlatformTransactionManager transactionManager() {
			return new AbstractPlatformTransactionManager() {

				private static final long serialVersionUID = 1L;

				@Override
				protected Object doGetTransaction() {
					return new Object();
				}

				@Override
				protected void doBegin(Object transaction, TransactionDefinition definition) {
				}

				@Override
				protected void doCommit(DefaultTransactionStatus status) {
				}

				@Override
				protected void doRollback(DefaultTransactionStatus status) {
				}

			};
		}

	}

}
