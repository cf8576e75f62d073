package io.mutex.interceptor;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;

import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import io.mutex.annotation.OnInDoubt;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the attributes of the annotations and the settings behind them.
 */
@ExtendWith(OutputCaptureExtension.class)
class AttributeTests {

	private static final InterceptorSettings SETTINGS = new InterceptorSettings(ZoneId.of("Asia/Seoul"), true, false,
			Duration.ofSeconds(11), Duration.ofSeconds(12), Duration.ofSeconds(13), Duration.ofSeconds(14),
			Duration.ofSeconds(15), RunRetention.DEFAULT);

	@ParameterizedTest
	@DisplayName("C109 a lease below one second is refused with the least")
	@ValueSource(strings = { "0", "0s", "-1s", "500us", "999ms", "PT0.5S" })
	void shortLeaseIsRefused(String lease) {
		for (Class<?> bean : List.of(RunWithProperties.class, FencedWithProperties.class)) {
			MutexConfigurationException refusal = MutexContext.create().property("lease", lease).refusal(bean);
			assertThat(refusal.getMessage()).contains(bean.getName() + ".run()").contains("is too short");
			assertThat(refusal.getRemedy()).contains("1s or longer");
		}
	}

	@ParameterizedTest
	@DisplayName("C138 durations of annotations are read as those of the configuration")
	@CsvSource({ "14M, PT14M", "14m, PT14M", "PT14M, PT14M", "1s, PT1S" })
	void durationIsReadLikeConfiguration(String text, Duration lease) {
		try (MutexContext context = MutexContext.create().property("lease", text).start(RunWithProperties.class)) {
			context.bean(RunWithProperties.class).run();
			assertThat(context.lastRequest().lease()).isEqualTo(lease);
			MutexAnnotationBeanPostProcessor processor = context.bean(MutexAnnotationBeanPostProcessor.class);
			assertThat(processor.declaredRuns()).singleElement()
				.satisfies((run) -> assertThat(run.policy()).contains("lease " + lease));
		}
	}

	@ParameterizedTest
	@DisplayName("C138 anything else is refused, naming the method and the attribute")
	@CsvSource({ "lease, 60000", "lease, ' 5m '", "lease, 5 m", "lease, 1h30m", "waitFor, 5", "waitFor, -1s",
			"maxHold, 0", "maxHold, -5m", "maxHold, soon" })
	void invalidDurationIsRefused(String attribute, String text) {
		for (Class<?> bean : List.of(RunWithProperties.class, FencedWithProperties.class)) {
			assertThat(MutexContext.create().property(attribute, text).refusal(bean).getMessage())
				.contains(bean.getName() + ".run()")
				.contains("its " + attribute + " is");
		}
	}

	@ParameterizedTest
	@CsvSource({ "per, days", "per, 0s", "zone, Europe/Atlantis", "unless, #{true}", "unless, #nobody", "unless, 1 +" })
	void invalidTextIsRefused(String attribute, String text) {
		assertThat(MutexContext.create().property(attribute, text).refusal(RunWithProperties.class).getMessage())
			.contains("RunWithProperties.run()")
			.contains("its " + attribute);
	}

	@Test
	void unitExcludesPeriod() {
		assertThat(MutexContext.create().refusal(UnitAndPeriod.class).getMessage())
			.contains("it has a unit and a period");
	}

	@Test
	void settingsHoldWhereTheAnnotationIsSilent() {
		try (MutexContext context = MutexContext.create()
			.settings(SETTINGS)
			.start(RunWithProperties.class, FencedWithProperties.class)) {
			context.bean(RunWithProperties.class).run();
			LockRequest run = context.lastRequest();
			assertThat(run.lease()).isEqualTo(Duration.ofSeconds(11));
			assertThat(run.maxHold()).isEqualTo(Duration.ofSeconds(12));
			assertThat(run.waitFor()).isEqualTo(Duration.ZERO);
			assertThat(run.skipInDoubt()).isFalse();
			assertThat(run.unless()).isNull();
			context.bean(FencedWithProperties.class).run();
			LockRequest fenced = context.lastRequest();
			assertThat(fenced.waitFor()).isEqualTo(Duration.ofSeconds(13));
			assertThat(fenced.lease()).isEqualTo(Duration.ofSeconds(14));
			assertThat(fenced.maxHold()).isEqualTo(Duration.ofSeconds(15));
			assertThat(fenced.unit()).isNull();
		}
	}

	@Test
	void placeholdersHoldWhereTheyAreSet() {
		try (MutexContext context = MutexContext.create()
			.settings(SETTINGS)
			.property("lease", "21s")
			.property("maxHold", "22s")
			.property("waitFor", "23s")
			.property("per", "forever")
			.start(RunWithProperties.class)) {
			context.bean(RunWithProperties.class).run();
			assertThat(context.lastRequest()).satisfies((run) -> {
				assertThat(run.lease()).isEqualTo(Duration.ofSeconds(21));
				assertThat(run.maxHold()).isEqualTo(Duration.ofSeconds(22));
				assertThat(run.waitFor()).isEqualTo(Duration.ofSeconds(23));
				assertThat(run.unit()).isEqualTo(RunUnit.of("forever"));
			});
		}
	}

	@Test
	void unitIsNamedByTheCall() {
		try (MutexContext context = MutexContext.of(NamedUnit.class)) {
			NamedUnit bean = context.bean(NamedUnit.class);
			bean.close("2026-11-29");
			bean.close("2026-11-29");
			bean.close("2026-11-30");
			assertThat(context.lastRequest().unit()).isEqualTo(RunUnit.of("2026-11-30"));
			assertThat(context.lastRequest().skipInDoubt()).isTrue();
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.SKIPPED_DONE, Outcome.EXECUTED);
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.close("u".repeat(201)))
				.withMessageContaining("has not run");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.close(null))
				.withMessageContaining("NamedUnit.close(String)");
			assertThat(context.requests).hasSize(3);
		}
	}

	@Test
	void conditionIsEvaluatedUnderTheLock() {
		try (MutexContext context = MutexContext.of(Conditional.class)) {
			Conditional bean = context.bean(Conditional.class);
			assertThat(bean.make("there", true)).isNull();
			assertThat(bean.make("missing", false)).isEqualTo("made");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.make("unknown", null))
				.withMessageContaining("null instead of true or false");
			assertThatExceptionOfType(MutexException.class).isThrownBy(() -> bean.fail("x"))
				.withMessageContaining("Conditional.fail(String)");
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.SKIPPED_DONE, Outcome.EXECUTED, Outcome.FAILED, Outcome.FAILED);
			assertThat(bean.make("there", false)).isNull();
		}
	}

	@Test
	void withoutRecordsEveryCallRuns() {
		InterceptorSettings settings = new InterceptorSettings(ZoneId.of("UTC"), false, false, Duration.ofSeconds(11),
				null, Duration.ZERO, Duration.ofSeconds(14), null, RunRetention.DEFAULT);
		try (MutexContext context = MutexContext.create().settings(settings).start(NamedUnit.class)) {
			context.bean(NamedUnit.class).close("2026-11-29");
			context.bean(NamedUnit.class).close("2026-11-29");
			assertThat(context.lastRequest().unit()).isNull();
			assertThat(context.runs).extracting(MutexListener.Run::outcome)
				.containsExactly(Outcome.EXECUTED, Outcome.EXECUTED);
		}
	}

	@Test
	void startUpTellsWhatWasResolved(CapturedOutput output) {
		try (MutexContext context = MutexContext.create().settings(SETTINGS).start(Told.class)) {
			assertThat(output).containsOnlyOnce("Single run 'daily' of " + Told.class.getName()
					+ ".daily(): once per day in Asia/Seoul, lease PT11S, held at most PT12S");
			assertThat(output).containsOnlyOnce("Single run 'cron' of " + Told.class.getName()
					+ ".cron(): once per tick of cron '0 0 9 * * *' in UTC");
			context.bean(MutexAnnotationBeanPostProcessor.class).checkFencing(() -> List.of("a guard", "another"));
			assertThat(output)
				.containsOnlyOnce("Token of " + Told.class.getName() + ".guarded(): checked by a guard, another");
			assertThat(output).containsOnlyOnce("Token of " + Told.class.getName() + ".none(): checked by nobody");
			assertThat(output).containsOnlyOnce(Told.class.getName() + ".waiting() is scheduled and waits up to PT5S");
			assertThat(context.bean(MutexAnnotationBeanPostProcessor.class).declaredRuns())
				.extracting(DeclaredRun::name)
				.containsExactly("cron", "daily", "file:#{#p0}", "waiting");
		}
	}

	static class RunWithProperties {

		@SingleRun(key = "run", per = "${per:}", zone = "${zone:}", lease = "${lease:}", maxHold = "${maxHold:}",
				waitFor = "${waitFor:}", unless = "${unless:}")
		public void run() {
		}

	}

	static class FencedWithProperties {

		@Fenced(key = "fenced", lease = "${lease:}", maxHold = "${maxHold:}", waitFor = "${waitFor:}")
		public void run() {
		}

	}

	static class UnitAndPeriod {

		@SingleRun(key = "a", per = "day", unit = "b")
		public void run() {
		}

	}

	static class NamedUnit {

		@SingleRun(key = "close", unit = "#{#businessDate}", onInDoubt = OnInDoubt.SKIP)
		public void close(@Nullable String businessDate) {
		}

	}

	static class Conditional {

		@SingleRun(key = "make:#{#key}", per = "day", unless = "#isThere")
		public @Nullable String make(String key, @Nullable Boolean isThere) {
			return "made";
		}

		@SingleRun(key = "fail", per = "day", unless = "#key.missing")
		public void fail(String key) {
		}

	}

	static class Told {

		@SingleRun(key = "daily", per = "day")
		public void daily() {
		}

		@Scheduled(cron = "0 0 9 * * *", zone = "UTC")
		@SingleRun("cron")
		public void cron() {
		}

		@Scheduled(fixedDelay = 1000)
		@SingleRun(key = "waiting", waitFor = "5s")
		public void waiting() {
		}

		@SingleRun(key = "file:#{#p0}", per = "day")
		public void perFile(String file) {
		}

		@Fenced("guarded")
		public void guarded() {
		}

		@Fenced(key = "none", fencing = Fencing.NONE)
		public void none() {
		}

	}

}
