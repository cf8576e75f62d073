package io.mutex.interceptor;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.mutex.LeaseCallback;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexListener;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.OnHeld;
import io.mutex.annotation.SingleRun;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what a call returns, above all when it is skipped.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReturnTypeTests {

	@ParameterizedTest
	@DisplayName("C17 a primitive result is refused where a call can be skipped")
	@ValueSource(classes = { PrimitiveInt.class, PrimitiveBoolean.class, PrimitiveFenced.class })
	void primitiveResultIsRefused(Class<?> bean) {
		MutexConfigurationException refusal = MutexContext.create().refusal(bean);
		assertThat(refusal.getMessage()).contains(bean.getName() + ".run()").contains("a skipped call has no value");
		assertThat(refusal.getRemedy()).containsAnyOf("Return Integer", "Return Boolean");
	}

	@Test
	@DisplayName("C17 a boxed result of a skipped call is null, a primitive one works where nothing is skipped")
	void boxedResultIsNull() throws Exception {
		try (MutexContext context = MutexContext.of(Results.class)) {
			Results bean = context.bean(Results.class);
			whileHeld(context, "results", () -> {
				assertThat(bean.boxed()).isNull();
				bean.nothing();
				assertThat(bean.optional("held")).isEmpty();
				assertThat(bean.optionalInt()).isEmpty();
				assertThat(bean.stage().toCompletableFuture()).isCompletedWithValue(null);
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::primitive);
			});
			assertThat(bean.primitive()).isEqualTo(1);
			assertThat(bean.boxed()).isEqualTo(1);
		}
	}

	@Test
	@DisplayName("C18 an empty result counts as a run, and null is an empty optional")
	void emptyOptionalIsASuccess() {
		try (MutexContext context = MutexContext.of(Optionals.class)) {
			Optionals bean = context.bean(Optionals.class);
			assertThat(bean.make("empty", Optional.empty())).isEmpty();
			assertThat(bean.make("empty", Optional.of("late"))).isEmpty();
			assertThat(bean.make("null", null)).isEmpty();
			assertThat(bean.make("null", Optional.of("late"))).isEmpty();
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.SKIPPED_DONE, Outcome.EXECUTED, Outcome.SKIPPED_DONE);
		}
	}

	@Test
	@DisplayName("C19 the key is held until the future completes, and only a success is recorded")
	void futureHoldsTheKeyUntilItCompletes() throws Exception {
		MemoryLockProvider store = new MemoryLockProvider();
		try (MutexContext one = MutexContext.on(store).start(Futures.class);
				MutexContext other = MutexContext.on(store).start(Futures.class)) {
			CompletableFuture<String> failing = new CompletableFuture<>();
			CompletableFuture<String> cancelled = new CompletableFuture<>();
			CompletableFuture<String> succeeding = new CompletableFuture<>();
			Futures bean = one.bean(Futures.class);
			Futures elsewhere = other.bean(Futures.class);

			CompletableFuture<String> result = bean.run(failing);
			assertThat(elsewhere.run(succeeding)).isCompletedWithValue(null);
			failing.completeExceptionally(new IllegalStateException("failed"));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(30, TimeUnit.SECONDS))
				.withCauseInstanceOf(IllegalStateException.class);

			CompletableFuture<String> second = bean.run(cancelled);
			assertThat(elsewhere.run(succeeding)).isCompletedWithValue(null);
			cancelled.cancel(true);
			assertThat(second.handle((value, failure) -> "ended").get(30, TimeUnit.SECONDS)).isEqualTo("ended");

			CompletableFuture<String> third = elsewhere.run(succeeding);
			assertThat(third).isNotDone();
			assertThat(bean.run(new CompletableFuture<>())).isCompletedWithValue(null);
			succeeding.complete("done");
			assertThat(third.get(30, TimeUnit.SECONDS)).isEqualTo("done");

			assertThat(bean.run(new CompletableFuture<>())).isCompletedWithValue(null);
			assertThat(one.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.FAILED, Outcome.FAILED, Outcome.SKIPPED_HELD, Outcome.SKIPPED_DONE);
		}
	}

	@ParameterizedTest
	@DisplayName("C19 a result whose end nobody can see is refused")
	@ValueSource(classes = { PlainFuture.class, Task.class, FlowPublisher.class, ReactivePublisher.class,
			OwnPublisher.class, OwnFuture.class, OwnFencedFuture.class })
	void unobservableResultIsRefused(Class<?> bean) {
		MutexConfigurationException refusal = MutexContext.create().refusal(bean);
		assertThat(refusal.getMessage()).contains(bean.getName() + ".run()").contains("it returns ");
		assertThat(refusal.getRemedy()).startsWith("Return a Complet");
	}

	@Test
	@DisplayName("C21 a suspending function is refused")
	void suspendingFunctionIsRefused(@TempDir Path directory) throws Exception {
		ClassLoader loader = CompiledClasses.compile(directory, List.of("-parameters"),
				Map.of("kotlin.coroutines.Continuation", """
						package kotlin.coroutines;
						public interface Continuation<T> {
						}
						""", "io.mutex.compiled.Suspending", """
						package io.mutex.compiled;
						public class Suspending {
							@io.mutex.annotation.SingleRun(key = "k", per = "day")
							public Object run(kotlin.coroutines.Continuation<? super String> continuation) {
								return null;
							}
						}
						"""));
		assertThat(MutexContext.create().refusal(loader.loadClass("io.mutex.compiled.Suspending")).getMessage())
			.contains("Suspending.run(Continuation)")
			.contains("suspending function");
	}

	@Test
	@DisplayName("C22 a scheduled job is skipped quietly, a user's call is told")
	void skipAndExceptionForTheSameKey(CapturedOutput output) throws Exception {
		try (MutexContext context = MutexContext.of(SkipOrFail.class)) {
			SkipOrFail bean = context.bean(SkipOrFail.class);
			whileHeld(context, "shared", () -> {
				bean.skip();
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::fail).satisfies((ex) -> {
					assertThat(ex.getKey()).isEqualTo("shared");
					assertThat(ex.getReason()).isEqualTo(Reason.HELD);
					assertThat(ex.getHolder()).isNotNull();
					assertThat(ex.getMessage()).contains("SkipOrFail.fail()").contains("has not run");
				});
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::failAfterWaiting)
					.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(Reason.TIMED_OUT));
				assertThat(bean.fencedSkip()).isNull();
				assertThat(output).containsOnlyOnce("key=shared skipped: key 'shared' is held by");
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::fencedFail);
			});
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsOnly(Outcome.SKIPPED_HELD, Outcome.EXECUTED);
			assertThat(output).contains("io.mutex.skip").doesNotContain("ERROR").doesNotContain("\tat ");
			assertThat(bean.calls()).isZero();
		}
	}

	@Test
	void exceptionOfTheBodyIsNoSkip() {
		try (MutexContext context = MutexContext.of(SkipOrFail.class)) {
			LockNotAcquiredException thrown = new LockNotAcquiredException("inner", Reason.HELD, null, "of the body");
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> context.bean(SkipOrFail.class).fencedThrow(thrown))
				.isSameAs(thrown);
		}
	}

	@Test
	void skippedFenceWithinARecordedRunIsRefused() {
		assertThat(MutexContext.create().refusal(SkippedWithin.class).getMessage())
			.contains("would be recorded as a success");
	}

	/** Runs an action while another thread holds a key. */
	private static void whileHeld(MutexContext context, String key, Action action) throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		LeaseCallback<@Nullable Object, InterruptedException> body = (lease) -> {
			held.countDown();
			release.await();
			return null;
		};
		FutureTask<@Nullable Object> holder = new FutureTask<>(
				() -> context.template().singleRun(LockRequest.of(key), body));
		new Thread(holder, "holder").start();
		try {
			assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
			action.run();
		}
		finally {
			release.countDown();
		}
		holder.get(30, TimeUnit.SECONDS);
	}

	interface Action {

		void run() throws Exception;

	}

	static class PrimitiveInt {

		@SingleRun(key = "n", per = "day", onHeld = OnHeld.FAIL)
		public int run() {
			return 1;
		}

	}

	static class PrimitiveBoolean {

		@SingleRun(key = "n")
		public boolean run() {
			return true;
		}

	}

	static class PrimitiveFenced {

		@Fenced(key = "n", onHeld = OnHeld.SKIP)
		public int run() {
			return 1;
		}

	}

	static class Results {

		@SingleRun("results")
		public @Nullable Integer boxed() {
			return 1;
		}

		@SingleRun("results")
		public void nothing() {
		}

		@SingleRun("results")
		public Optional<String> optional(String value) {
			return Optional.of(value);
		}

		@SingleRun("results")
		public OptionalInt optionalInt() {
			return OptionalInt.of(1);
		}

		@SingleRun("results")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedFuture("ran");
		}

		@SingleRun(key = "results", onHeld = OnHeld.FAIL)
		public int primitive() {
			return 1;
		}

	}

	static class Optionals {

		@SingleRun(key = "make:#{#key}", per = "day")
		@SuppressWarnings("OptionalUsedAsFieldOrParameterType")
		public @Nullable Optional<String> make(String key, @Nullable Optional<String> result) {
			return result;
		}

	}

	static class Futures {

		@SingleRun(key = "fut", per = "day", lease = "1m")
		public CompletableFuture<String> run(CompletableFuture<String> future) {
			return future;
		}

	}

	static class PlainFuture {

		@Fenced("f")
		public Future<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class Task {

		@Fenced("f")
		public FutureTask<String> run() {
			return new FutureTask<>(() -> "");
		}

	}

	static class FlowPublisher {

		@Fenced("f")
		public Flow.@Nullable Publisher<String> run() {
			return null;
		}

	}

	static class ReactivePublisher {

		@Fenced("f")
		public org.reactivestreams.@Nullable Publisher<String> run() {
			return null;
		}

	}

	interface Mono extends Flow.Publisher<String> {

	}

	static class OwnPublisher {

		@SingleRun(key = "f", per = "day")
		public @Nullable Mono run() {
			return null;
		}

	}

	static class MyFuture extends CompletableFuture<String> {

	}

	static class OwnFuture {

		@SingleRun(key = "f", per = "day")
		public MyFuture run() {
			return new MyFuture();
		}

	}

	static class OwnFencedFuture {

		@Fenced(key = "f")
		public MyFuture run() {
			return new MyFuture();
		}

	}

	static class SkipOrFail {

		private int calls;

		public int calls() {
			return this.calls;
		}

		@SingleRun("shared")
		public void skip() {
			this.calls++;
		}

		@SingleRun(key = "shared", onHeld = OnHeld.FAIL)
		public void fail() {
			this.calls++;
		}

		@SingleRun(key = "shared", onHeld = OnHeld.FAIL, waitFor = "10ms")
		public void failAfterWaiting() {
			this.calls++;
		}

		@Fenced(key = "shared", onHeld = OnHeld.SKIP, waitFor = "0")
		public @Nullable String fencedSkip() {
			return "ran";
		}

		@Fenced(key = "shared", waitFor = "10ms")
		public void fencedFail() {
			this.calls++;
		}

		@Fenced(key = "other", onHeld = OnHeld.SKIP)
		public void fencedThrow(RuntimeException exception) {
			throw exception;
		}

	}

	static class SkippedWithin {

		@SingleRun(key = "outer", per = "day")
		@Fenced(key = "inner", onHeld = OnHeld.SKIP)
		public void run() {
		}

	}

}
