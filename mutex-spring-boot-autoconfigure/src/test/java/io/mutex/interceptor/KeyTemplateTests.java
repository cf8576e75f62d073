package io.mutex.interceptor;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.mutex.MutexException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for how the text of an annotation becomes the key of a call.
 */
@ExtendWith(OutputCaptureExtension.class)
class KeyTemplateTests {

	@Test
	@DisplayName("C24 parameter names without -parameters are refused, and positions work")
	void parameterNamesNeedTheCompilerFlag(@TempDir Path directory) throws Exception {
		String source = """
				package io.mutex.compiled;
				public class %s {
					@io.mutex.annotation.Fenced("order:#{#%s}")
					public String pay(String orderId, java.util.function.Supplier<String> body) {
						return body.get();
					}
				}
				""";
		ClassLoader loader = CompiledClasses.compile(directory, List.of("-g:none"),
				Map.of("io.mutex.compiled.ByName", source.formatted("ByName", "orderId"),
						"io.mutex.compiled.ByPosition", source.formatted("ByPosition", "p0")));
		MutexConfigurationException refusal = MutexContext.create()
			.refusal(loader.loadClass("io.mutex.compiled.ByName"));
		assertThat(refusal.getMessage()).contains("ByName.pay(String, Supplier)").contains("#orderId");
		assertThat(refusal.getRemedy()).contains("-parameters").contains("#p0");
		Class<?> byPosition = loader.loadClass("io.mutex.compiled.ByPosition");
		try (MutexContext context = MutexContext.create().classLoader(loader).start(byPosition)) {
			Object bean = context.bean(byPosition);
			runTogether(List.of("1", "2"), (id, together) -> ReflectionUtils
				.invokeMethod(byPosition.getMethod("pay", String.class, Supplier.class), bean, id, together));
			assertThat(context.requests).extracting((request) -> request.key())
				.containsExactlyInAnyOrder("order:1", "order:2");
		}
	}

	@ParameterizedTest
	@DisplayName("C26 only #{…} is evaluated: every other character is literal")
	@CsvSource({ "order#123", "100%", "a{b}c", "task#", "{}", "#", "$", "a}b", "50%{x}" })
	void literalCharactersStay(String key) {
		try (MutexContext context = MutexContext.create().property("key", key).start(FromProperty.class)) {
			context.bean(FromProperty.class).run();
			assertThat(context.lastRequest().key()).isEqualTo(key);
			assertThat(context.lastRequest().name()).isEqualTo(key);
		}
	}

	@Test
	@DisplayName("C26 literals in the annotation stay as they are")
	void literalsOfAnnotationStay() {
		try (MutexContext context = MutexContext.of(Literals.class)) {
			Literals bean = context.bean(Literals.class);
			bean.hash();
			bean.percent();
			bean.braces();
			bean.trailing();
			assertThat(context.requests).extracting((request) -> request.key())
				.containsExactly("order#123", "100%", "a{b}c", "task#");
		}
	}

	@Test
	@DisplayName("C27 a placeholder without a value, or with an empty one, is refused")
	void unresolvedPlaceholderIsRefused() {
		assertThat(MutexContext.create().refusal(FromProperty.class).getMessage()).contains("FromProperty.run()")
			.contains("${key}")
			.contains("placeholder without a value");
		assertThat(MutexContext.create().refusal(Strict.class, FromProperty.class).getMessage())
			.contains("placeholder without a value");
		assertThat(MutexContext.create().refusal(EmptyDefault.class).getMessage()).contains("${job.key:}")
			.contains("resolves to nothing");
		assertThat(MutexContext.create().property("key", "").refusal(FromProperty.class).getMessage())
			.contains("resolves to nothing");
	}

	@ParameterizedTest
	@DisplayName("C27 a mistyped expression is refused")
	@ValueSource(strings = { "{#hotel}", "a:{ #hotel }", "#{#hotel", "a:#{", "#{}", "#{#}", "#{#hotel +}", "#{#nobody}",
			"#{#p7}", "#{#hotel.concat(#nobody)}" })
	void mistypedExpressionIsRefused(String key) {
		MutexConfigurationException refusal = MutexContext.create().property("key", key).refusal(Hotel.class);
		assertThat(refusal.getMessage()).contains("Hotel.book(String)").contains(key);
		assertThat(refusal.getRemedy()).isNotBlank();
	}

	@Test
	@DisplayName("C27 a parameter that a method without parameters does not have is refused")
	void parameterOfAMethodWithoutParametersIsRefused() {
		MutexConfigurationException refusal = MutexContext.create()
			.property("key", "#{#nobody}")
			.refusal(FromProperty.class);
		assertThat(refusal.getMessage()).contains("FromProperty.run()").contains("#nobody");
		assertThat(refusal.getRemedy()).contains("has no parameters");
	}

	@ParameterizedTest
	@DisplayName("C27 a literal that names a parameter is a warning")
	@ValueSource(strings = { "#hotel", "hotel:#hotel", "#other" })
	void literalThatNamesAParameterIsWarnedOf(String key, CapturedOutput output) {
		try (MutexContext context = MutexContext.create().property("key", key).start(Hotel.class)) {
			context.bean(Hotel.class).book("a");
			assertThat(context.lastRequest().key()).isEqualTo(key);
			assertThat(output).contains("'" + key + "' of " + Hotel.class.getName() + ".book(String) is literal text");
		}
	}

	@Test
	void evaluatesExpressionsOverParametersAndBeans() {
		try (MutexContext context = MutexContext.create().property("prefix", "acme").start(Expressions.class)) {
			Expressions bean = context.bean(Expressions.class);
			bean.transfer("a", 7);
			assertThat(context.lastRequest().key()).isEqualTo("acme:a-7:A");
			assertThat(context.lastRequest().name()).isEqualTo("acme:#{#from}-#{#a1}:#{#p0.toUpperCase()}");
			bean.ofBean();
			assertThat(context.lastRequest().key()).isEqualTo("of-bean");
		}
	}

	@ParameterizedTest
	@DisplayName("C27 a call whose key is null, blank or invalid does not run")
	@NullSource
	@ValueSource(strings = { "", " ", " a", "a ", "a\nb", "a\u0000" })
	void invalidKeyDoesNotRun(@Nullable String hotel) {
		try (MutexContext context = MutexContext.create().property("key", "#{#hotel}").start(Hotel.class)) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> context.bean(Hotel.class).book(hotel))
				.withMessageContaining("Hotel.book(String)")
				.withMessageContaining("#{#hotel}")
				.withMessageContaining("has not run");
			assertThat(context.requests).isEmpty();
		}
	}

	@Test
	void partWithoutTextDoesNotRun() {
		try (MutexContext context = MutexContext.create().property("key", "hotel:#{#hotel}").start(Hotel.class)) {
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> context.bean(Hotel.class).book(null))
				.withMessageContaining("evaluates to null");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> context.bean(Hotel.class).book(""))
				.withMessageContaining("evaluates to nothing");
			assertThat(context.requests).isEmpty();
		}
	}

	@Test
	@DisplayName("C33 the key is mandatory, and never derived from an object's identity")
	void keyDoesNotDependOnTheMachine() {
		assertThat(MutexContext.create().refusal(WithoutKey.class).getMessage()).contains("it has no key");
		try (MutexContext context = MutexContext.of(AnyObject.class)) {
			AnyObject bean = context.bean(AnyObject.class);
			for (Object value : List.of(new Object(), new int[] { 1 }, new String[] { "a" }, bean)) {
				assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.handle(value))
					.withMessageContaining("an object without a text of its own");
			}
			bean.handle(List.of(1, 2));
			assertThat(context.lastRequest().key()).isEqualTo("[1, 2]");
		}
	}

	@Test
	@DisplayName("C29 a literal key that is too long is refused, an evaluated one throws")
	void overLongKeyIsRefused() {
		try (MutexContext context = MutexContext.create().property("key", "k".repeat(200)).start(FromProperty.class)) {
			context.bean(FromProperty.class).run();
			assertThat(context.lastRequest().key()).hasSize(200);
		}
		assertThat(MutexContext.create().property("key", "k".repeat(201)).refusal(FromProperty.class).getMessage())
			.contains("longer than 200 characters");
		try (MutexContext context = MutexContext.create().property("key", "#{#hotel}").start(Hotel.class)) {
			Hotel bean = context.bean(Hotel.class);
			bean.book("k".repeat(200));
			for (String key : List.of("k".repeat(201), "k".repeat(299) + "a", "k".repeat(299) + "b", "k".repeat(500))) {
				assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.book(key))
					.withMessageContaining("longer than 200 characters");
			}
			assertThat(context.requests).hasSize(1);
		}
	}

	@ParameterizedTest
	@DisplayName("C30 keys are characters, not bytes, and pass unchanged")
	@ValueSource(strings = { "日報-", "🔒", "é", "é" })
	void nonAsciiKeysPassUnchanged(String part) {
		String key = part.repeat(200 / part.length());
		try (MutexContext context = MutexContext.create().property("key", "#{#hotel}").start(Hotel.class)) {
			assertThat(context.bean(Hotel.class).book(key)).isEqualTo(key);
			assertThat(context.lastRequest().key()).isEqualTo(key);
		}
	}

	@Test
	@DisplayName("C31 keys that differ only in case run at the same time")
	void caseCounts() throws Exception {
		try (MutexContext context = MutexContext.of(WithBody.class)) {
			WithBody bean = context.bean(WithBody.class);
			runTogether(List.of("aB", "Ab"), bean::handle);
			assertThat(context.requests).hasSize(2);
		}
	}

	/** Calls with all values at once; each body waits until all have begun. */
	private static void runTogether(List<String> values, Action action) throws Exception {
		CountDownLatch begun = new CountDownLatch(values.size());
		ExecutorService threads = Executors.newFixedThreadPool(values.size());
		try {
			for (var result : IntStream.range(0, values.size())
				.mapToObj((index) -> threads.submit(() -> action.run(values.get(index), () -> awaitAll(begun))))
				.toList()) {
				result.get(60, TimeUnit.SECONDS);
			}
			assertThat(begun.getCount()).isZero();
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static String awaitAll(CountDownLatch begun) {
		begun.countDown();
		try {
			assertThat(begun.await(50, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return "done";
	}

	interface Action {

		@Nullable Object run(String value, Supplier<String> body) throws Exception;

	}

	static class FromProperty {

		@Fenced("${key}")
		public void run() {
		}

	}

	static class EmptyDefault {

		@SingleRun(key = "${job.key:}", per = "day")
		public void run() {
		}

	}

	static class WithoutKey {

		@SingleRun(per = "day")
		public void run() {
		}

	}

	static class Literals {

		@SingleRun(key = "order#123", per = "day")
		public void hash() {
		}

		@SingleRun(key = "100%", per = "day")
		public void percent() {
		}

		@SingleRun(key = "a{b}c", per = "day")
		public void braces() {
		}

		@SingleRun(key = "task#", per = "day")
		public void trailing() {
		}

	}

	static class Hotel {

		@Fenced("${key}")
		public @Nullable String book(@Nullable String hotel) {
			return hotel;
		}

	}

	static class Expressions {

		@Fenced("${prefix}:#{#from}-#{#a1}:#{#p0.toUpperCase()}")
		public void transfer(String from, int amount) {
		}

		@Fenced("#{@keyOfBean}")
		public void ofBean() {
		}

		@Bean
		static String keyOfBean() {
			return "of-bean";
		}

	}

	static class AnyObject {

		@Fenced("#{#value}")
		public void handle(Object value) {
		}

	}

	static class WithBody {

		@Fenced(key = "acct-#{#id}", waitFor = "0")
		public String handle(String id, Supplier<String> body) {
			return body.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Strict {

		@Bean
		static PropertySourcesPlaceholderConfigurer placeholders() {
			return new PropertySourcesPlaceholderConfigurer();
		}

	}

}
