package io.mutex.interceptor;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for which methods are protected, and which are refused.
 */
class ProxyingTests {

	@Test
	@DisplayName("C01 a call on this is not protected, and the guard in the body finds it")
	void selfInvocationIsFoundByTheGuard() {
		try (MutexContext context = MutexContext.of(SelfInvoking.class)) {
			SelfInvoking bean = context.bean(SelfInvoking.class);
			assertThatExceptionOfType(MutexException.class).isThrownBy(bean::trigger)
				.withMessageContaining("was the annotated method called on 'this'");
			assertThat(context.runs).isEmpty();
			bean.nightly();
			assertThat(context.runs).extracting(MutexListener.Run::outcome).containsExactly(Outcome.EXECUTED);
		}
	}

	@ParameterizedTest
	@DisplayName("C03 what a proxy cannot intercept is refused at start-up")
	@ValueSource(classes = { FinalMethod.class, FinalClass.class, PrivateMethod.class, StaticMethod.class,
			FinalRecord.class })
	void refusesWhatCannotBeIntercepted(Class<?> bean) {
		assertThat(refusal(bean)).satisfies((refusal) -> {
			assertThat(refusal.getMessage()).contains(bean.getName() + ".run()");
			assertThat(refusal.getMethod()).isEqualTo(bean.getName() + ".run()");
			assertThat(refusal.getProblem()).containsAnyOf("it is final", "its class is final", "it is private",
					"it is static");
			assertThat(refusal.getRemedy()).isNotBlank();
			assertThat(refusal.getBeanName()).isNotBlank();
		});
	}

	@Test
	@DisplayName("C03 a final class behind its interface is protected")
	void protectsFinalClassBehindInterface() {
		try (MutexContext context = MutexContext.of(FinalImplementation.class)) {
			context.bean(Job.class).run();
			assertThat(context.lastRequest().key()).isEqualTo("final");
		}
	}

	@Test
	void refusesMethodThatTheProxyDoesNotHave() {
		assertThat(refusal(BesideTheInterface.class).getProblem()).contains("none of them has this method");
		try (MutexContext context = MutexContext.create().proxyTargetClass(true).start(BesideTheInterface.class)) {
			context.bean(BesideTheInterface.class).other();
			assertThat(context.lastRequest().key()).isEqualTo("other");
		}
	}

	@Test
	void lazyBeanIsRefusedWhenItIsCreated() {
		try (MutexContext context = MutexContext.of(LazyFinalMethod.class)) {
			for (int time = 0; time < 2; time++) {
				assertThatExceptionOfType(BeanCreationException.class)
					.isThrownBy(() -> context.bean(LazyFinalMethod.class))
					.withCauseInstanceOf(MutexConfigurationException.class);
			}
		}
	}

	@ParameterizedTest
	@DisplayName("C05 the annotation counts on the interface and on the implementation, which wins")
	@ValueSource(booleans = { true, false })
	void findsAnnotationOnInterfaceAndImplementation(boolean proxyTargetClass) {
		assertThat(keyOf(proxyTargetClass, OnInterface.class)).isEqualTo("interface");
		assertThat(keyOf(proxyTargetClass, OnImplementation.class)).isEqualTo("implementation");
		assertThat(keyOf(proxyTargetClass, OnBoth.class)).isEqualTo("implementation");
		assertThat(keyOf(proxyTargetClass, OnGeneric.class)).isEqualTo("generic");
		assertThat(keyOf(proxyTargetClass, DefaultMethod.class)).isEqualTo("default");
		assertThat(keyOf(proxyTargetClass, OnInterfaceType.class)).isEqualTo("type");
	}

	private static String keyOf(boolean proxyTargetClass, Class<?> bean) {
		try (MutexContext context = MutexContext.create().proxyTargetClass(proxyTargetClass).start(bean)) {
			Job job = context.bean(Job.class);
			assertThat(AopUtils.isJdkDynamicProxy(job)).isEqualTo(!proxyTargetClass);
			job.run();
			assertThat(context.requests).hasSize(1);
			return context.lastRequest().key();
		}
	}

	@Test
	@DisplayName("C06 an annotation on the class applies to its public methods")
	void classAnnotationApplies() {
		try (MutexContext context = MutexContext.of(OneMethod.class)) {
			context.bean(OneMethod.class).a();
			assertThat(context.lastRequest().key()).isEqualTo("class");
			context.bean(OneMethod.class).internal();
			assertThat(context.requests).hasSize(1);
		}
	}

	@Test
	@DisplayName("C06 two methods that share the recorded key of their class are refused")
	void classAnnotationOverTwoMethodsIsRefused() {
		assertThat(refusal(TwoMethods.class)).satisfies((refusal) -> {
			assertThat(refusal.getMessage()).contains("TwoMethods.a()").contains("TwoMethods.b()").contains("'class'");
			assertThat(refusal.getRemedy()).contains("key of its own");
		});
	}

	@Test
	@DisplayName("C07 an override inherits the annotation")
	void overrideInheritsAnnotation() {
		try (MutexContext context = MutexContext.of(Overriding.class)) {
			context.bean(Overriding.class).run();
			assertThat(context.lastRequest().key()).isEqualTo("base");
		}
	}

	@Test
	@DisplayName("C07 two subclasses that share an inherited recorded key are refused")
	void subclassesWithOneKeyAreRefused() {
		assertThat(refusal(Overriding.class, Inheriting.class).getMessage()).contains("Overriding.run()")
			.contains("Inheriting.run()")
			.contains("'base'");
	}

	@Test
	void methodsThatShareAKeyNeedOnePolicy() {
		assertThat(refusal(DifferentLeases.class).getMessage()).contains("lease PT5S").contains("lease PT6S");
		try (MutexContext context = MutexContext.of(SharedExclusion.class)) {
			context.bean(SharedExclusion.class).a();
			context.bean(SharedExclusion.class).b();
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.EXECUTED);
		}
	}

	@Test
	@DisplayName("C08 composed annotations are merged, over two levels as well")
	void mergesComposedAnnotations() {
		try (MutexContext context = MutexContext.of(Composed.class)) {
			context.bean(Composed.class).once();
			assertThat(context.lastRequest().key()).isEqualTo("x");
			assertThat(context.lastRequest().unit()).isNotNull();
			context.bean(Composed.class).twice();
			assertThat(context.lastRequest().key()).isEqualTo("y");
			assertThat(context.lastRequest().unit()).isNotNull();
		}
	}

	@Test
	@DisplayName("C08 a composed annotation without a key is refused for the annotated method")
	void refusesComposedAnnotationWithoutKey() {
		assertThat(refusal(ComposedWithoutKey.class).getMessage()).contains("ComposedWithoutKey.run()")
			.contains("it has no key");
	}

	@Test
	@DisplayName("C11 a second instance of the same bean class is refused like another pod")
	void secondInstanceOfABeanIsExcluded() {
		try (MutexContext context = MutexContext.of(Prototype.class)) {
			Prototype first = context.bean(Prototype.class);
			Prototype second = context.bean(Prototype.class);
			assertThat(first).isNotSameAs(second);
			assertThat(first.run()).isEqualTo("ran");
			assertThat(second.run()).isNull();
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.SKIPPED_DONE);
		}
	}

	@Test
	void fillsTokenAndLease() {
		try (MutexContext context = MutexContext.of(Filled.class)) {
			Filled bean = context.bean(Filled.class);
			assertThat(bean.fenced("42", null, null)).containsExactly("account:42", "account:42");
			assertThat(bean.both(null, null)).containsExactly("both", "both");
			assertThat(context.requests).hasSize(3);
		}
	}

	@Test
	void bodysExceptionPassesUnchanged() {
		try (MutexContext context = MutexContext.of(Filled.class)) {
			Exception checked = new Exception("checked");
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.bean(Filled.class).fail(checked))
				.isSameAs(checked);
			assertThat(context.runs).extracting(MutexListener.Run::outcome).containsExactly(Outcome.FAILED);
		}
	}

	private static MutexConfigurationException refusal(Class<?>... beans) {
		return MutexContext.create().refusal(beans);
	}

	interface Job {

		void run();

	}

	static class SelfInvoking {

		public void trigger() {
			nightly();
		}

		@SingleRun(key = "nightly", per = "day")
		public void nightly() {
			Leases.assertHeld("nightly");
		}

	}

	static class FinalMethod {

		@SingleRun(key = "f", per = "day")
		public final void run() {
		}

	}

	@Lazy
	static class LazyFinalMethod extends FinalMethod {

	}

	static final class FinalClass {

		@SingleRun(key = "f", per = "day")
		public void run() {
		}

	}

	record FinalRecord() {

		@Fenced("f")
		public void run() {
		}

	}

	static class PrivateMethod {

		@SingleRun(key = "f", per = "day")
		private void run() {
		}

		void use() {
			run();
		}

	}

	static class StaticMethod {

		@Fenced("f")
		public static void run() {
		}

	}

	static final class FinalImplementation implements Job {

		@Override
		@SingleRun(key = "final", per = "day")
		public void run() {
		}

	}

	static class BesideTheInterface implements Job {

		@Override
		public void run() {
		}

		@SingleRun(key = "other", per = "day")
		public void other() {
		}

	}

	interface AnnotatedJob extends Job {

		@Override
		@SingleRun(key = "interface", per = "day")
		void run();

	}

	static class OnInterface implements AnnotatedJob {

		@Override
		public void run() {
			Leases.assertHeld("interface");
		}

	}

	static class OnImplementation implements Job {

		@Override
		@SingleRun(key = "implementation", per = "day")
		public void run() {
			Leases.assertHeld("implementation");
		}

	}

	static class OnBoth implements AnnotatedJob {

		@Override
		@SingleRun(key = "implementation", per = "day")
		public void run() {
			Leases.assertHeld("implementation");
		}

	}

	interface GenericJob<T> {

		@Fenced("generic")
		void handle(T value);

	}

	static class GenericHandler implements GenericJob<String> {

		@Override
		public void handle(String value) {
			Leases.assertHeld("generic");
		}

	}

	static class OnGeneric extends GenericHandler implements Job {

		@Override
		@SingleRun(key = "generic", per = "day")
		public void run() {
		}

	}

	interface DefaultJob extends Job {

		@Override
		@SingleRun(key = "default", per = "day")
		default void run() {
			Leases.assertHeld("default");
		}

	}

	static class DefaultMethod implements DefaultJob {

	}

	@SingleRun(key = "type", per = "day")
	interface TypeJob extends Job {

	}

	static class OnInterfaceType implements TypeJob {

		@Override
		public void run() {
			Leases.assertHeld("type");
		}

	}

	@SingleRun(key = "class", per = "day")
	static class OneMethod {

		public void a() {
			Leases.assertHeld("class");
		}

		void internal() {
		}

	}

	@SingleRun(key = "class", per = "day")
	static class TwoMethods {

		public void a() {
		}

		public void b() {
		}

	}

	static class Base {

		@SingleRun(key = "base", per = "day")
		public void run() {
		}

	}

	static class Overriding extends Base {

		@Override
		public void run() {
			Leases.assertHeld("base");
		}

	}

	static class Inheriting extends Base {

	}

	static class DifferentLeases {

		@Fenced(key = "shared", lease = "5s")
		public void a() {
		}

		@Fenced(key = "shared", lease = "6s")
		public void b() {
		}

	}

	static class SharedExclusion {

		@SingleRun("shared")
		public void a() {
		}

		@SingleRun("shared")
		public void b() {
		}

		@Fenced("shared")
		public void c() {
		}

	}

	@Scheduled
	@SingleRun
	@Retention(RetentionPolicy.RUNTIME)
	@interface NightlyJob {

		@AliasFor(annotation = Scheduled.class)
		String cron() default "0 0 2 * * *";

		@AliasFor(annotation = SingleRun.class, attribute = "key")
		String key() default "";

	}

	@NightlyJob
	@Retention(RetentionPolicy.RUNTIME)
	@interface NightlyReport {

		@AliasFor(annotation = NightlyJob.class, attribute = "key")
		String report();

	}

	static class Composed {

		@NightlyJob(cron = "0 0 2 * * *", key = "x")
		public void once() {
			Leases.assertHeld("x");
		}

		@NightlyReport(report = "y")
		public void twice() {
			Leases.assertHeld("y");
		}

	}

	static class ComposedWithoutKey {

		@NightlyJob
		public void run() {
		}

	}

	@Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
	static class Prototype {

		@SingleRun(key = "r", per = "day")
		public @Nullable String run() {
			return "ran";
		}

	}

	static class Filled {

		@Fenced("account:#{#id}")
		public List<String> fenced(String id, @Nullable FencingToken token, @Nullable Lease lease) {
			assertThat(token).isNotNull();
			assertThat(lease).isNotNull();
			assertThat(lease.token()).isEqualTo(token);
			return List.of(lease.key(), Leases.assertHeld("account:" + id).key());
		}

		@SingleRun(key = "both", per = "day")
		@Fenced("both")
		public List<String> both(@Nullable Lease lease, @Nullable FencingToken token) {
			assertThat(lease).isNotNull();
			assertThat(Leases.current()).contains(lease);
			assertThat(lease.token()).isEqualTo(token);
			assertThat(lease.unit()).isNotNull();
			return List.of(lease.key(), lease.name());
		}

		@SingleRun(key = "failing", per = "day")
		public void fail(Exception exception) throws Exception {
			throw exception;
		}

	}

}
