package io.mutex.interceptor;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;

import io.mutex.FencingToken;
import io.mutex.annotation.CatchUp;
import io.mutex.annotation.SingleRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the starter is asked to run by itself, and what it refuses.
 */
class RepeatsTests {

	@ParameterizedTest
	@ValueSource(classes = { WithParameter.class, WithoutUnit.class, Asynchronous.class, Negative.class, BadDelay.class,
			NegativeDelay.class })
	void retryThatCannotWorkIsRefusedWithTheRemedy(Class<?> bean) {
		MutexConfigurationException refusal = MutexContext.create().refusal(bean);
		assertThat(refusal.getMessage()).contains(bean.getName() + ".run(");
		assertThat(refusal.getRemedy()).isNotBlank();
	}

	@Test
	void refusalSaysWhatToDo() {
		assertThat(MutexContext.create().refusal(WithParameter.class).getMessage()).contains("maxRetries = 1",
				"no arguments");
		assertThat(MutexContext.create().refusal(WithoutUnit.class).getRemedy()).contains("per");
		assertThat(MutexContext.create().refusal(Asynchronous.class).getRemedy()).contains("@Async");
		assertThat(MutexContext.create().refusal(CatchUpWithoutSchedule.class).getRemedy()).contains("cron");
	}

	@ParameterizedTest
	@ValueSource(classes = { CatchUpWithoutSchedule.class, CatchUpOfNamedUnit.class, CatchUpOfRollingPeriod.class,
			CatchUpOfManyKeys.class, CatchUpWithParameter.class })
	void catchUpThatCannotWorkIsRefusedOnlyIfItIsDeclared(Class<?> bean) {
		MutexConfigurationException refusal = MutexContext.create().property("catch-up", "LAST").refusal(bean);
		assertThat(refusal.getMessage()).contains("catchUp = LAST");
	}

	@Test
	void catchUpByDefaultLeavesOutWhatCannotWork() {
		InterceptorSettings settings = new InterceptorSettings(ZoneId.of("UTC"), true, true, Duration.ofMinutes(2),
				null, Duration.ZERO, Duration.ofSeconds(30), null, RunRetention.DEFAULT);
		try (MutexContext context = MutexContext.create().settings(settings).start(Defaults.class, Unscheduled.class)) {
			List<DeclaredRun> runs = context.bean(MutexAnnotationBeanPostProcessor.class).declaredRuns();
			assertThat(runs).filteredOn((run) -> run.policy().contains("caught up"))
				.extracting(DeclaredRun::name)
				.containsExactly("default");
		}
	}

	@Test
	void policyNamesTheRetries() {
		try (MutexContext context = MutexContext.of(Good.class)) {
			assertThat(context.bean(MutexAnnotationBeanPostProcessor.class).declaredRuns()).singleElement()
				.satisfies((run) -> assertThat(run.policy()).contains("up to 3 times", "PT5S apart", "caught up"));
		}
	}

	@Test
	void disabledScheduleSwitchesRetriesOff() {
		try (MutexContext context = MutexContext.of(Disabled.class)) {
			context.bean(Disabled.class).run();
			assertThat(context.lastRequest().attempts().limit()).isZero();
			assertThat(context.lastRequest().observer()).isNull();
		}
	}

	static class WithParameter {

		@SingleRun(key = "job", per = "day", maxRetries = 1)
		public void run(String argument) {
		}

	}

	static class WithoutUnit {

		@SingleRun(key = "job", maxRetries = 1)
		public void run() {
		}

	}

	static class Asynchronous {

		@Async
		@SingleRun(key = "job", per = "day", maxRetries = 1)
		public void run() {
		}

	}

	static class Negative {

		@SingleRun(key = "job", per = "day", maxRetries = -1)
		public void run() {
		}

	}

	static class BadDelay {

		@SingleRun(key = "job", per = "day", delay = "5")
		public void run() {
		}

	}

	static class NegativeDelay {

		@SingleRun(key = "job", per = "day", delay = "-5s")
		public void run() {
		}

	}

	static class CatchUpWithoutSchedule {

		@SingleRun(key = "job", per = "day", catchUp = CatchUp.LAST)
		public void run() {
		}

	}

	static class CatchUpOfNamedUnit {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "job", unit = "1", catchUp = CatchUp.LAST)
		public void run() {
		}

	}

	static class CatchUpOfRollingPeriod {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "job", per = "10m", catchUp = CatchUp.LAST)
		public void run() {
		}

	}

	static class CatchUpOfManyKeys {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "job-#{1 + 1}", catchUp = CatchUp.LAST)
		public void run() {
		}

	}

	static class CatchUpWithParameter {

		@SingleRun(key = "job", per = "day", catchUp = CatchUp.LAST)
		public void run(String argument) {
		}

	}

	static class Defaults {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun("default")
		public void run() {
		}

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "none", catchUp = CatchUp.NONE)
		public void none() {
		}

	}

	static class Unscheduled {

		@SingleRun(key = "by-hand", per = "day")
		public void run() {
		}

	}

	static class Good {

		@Scheduled(cron = "0 0 0 1 1 *")
		@SingleRun(key = "good", maxRetries = 3, delay = "${delay:5s}", catchUp = CatchUp.LAST)
		public void run(FencingToken token) {
		}

	}

	static class Disabled {

		@Scheduled(cron = "-")
		@SingleRun(key = "disabled", maxRetries = 3, catchUp = CatchUp.LAST)
		public void run() {
		}

	}

}
