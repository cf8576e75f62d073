package io.mutex.status;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.annotation.SingleRun;
import io.mutex.autoconfigure.MutexAutoConfiguration;
import io.mutex.engine.LockEngine;
import io.mutex.run.Outcome;
import io.mutex.run.Owner;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Why a method has not run: each cause has its own reason.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReasonsTests {

	private void run(Consumer<AssertableApplicationContext> test) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, MutexAutoConfiguration.class))
			.withPropertyValues("spring.application.name=test", "mutex.provider=jdbc",
					"spring.datasource.generate-unique-name=true")
			.withBean(Job.class)
			.run(test::accept);
	}

	private static void holdElsewhere(AssertableApplicationContext context, String key) {
		Acquisition answer = context.getBean(LockProvider.class)
			.acquire(new AcquireRequest(key, key, "0123456789abcdef0123456789abcdef",
					new Owner("pod-7", "host-7", 77, "worker"), Duration.ofMinutes(1), 0, null, 0, 1));
		assertThat(answer).isInstanceOf(Acquisition.Granted.class);
	}

	private static RunLog.Entry last(AssertableApplicationContext context, String key) {
		List<RunLog.Entry> entries = context.getBean(RunLog.class).of(key);
		assertThat(entries).isNotEmpty();
		return entries.get(0);
	}

	@Test
	@DisplayName("C133 held, waited for in vain, done, failed, interrupted and shutting down have reasons of their own")
	void contentionHasItsReasonsAndIsNoError(CapturedOutput output) {
		run((context) -> {
			Job job = context.getBean(Job.class);
			job.daily();
			job.daily();
			assertThat(last(context, "daily").reason()).startsWith("skipped: succeeded by ");
			assertThat(last(context, "daily").outcome()).isEqualTo(Outcome.SKIPPED_DONE);

			holdElsewhere(context, "plain");
			job.plain();
			assertThat(last(context, "plain").reason()).isEqualTo("skipped: held by pod-7 (host host-7, pid 77)");
			holdElsewhere(context, "patient");
			job.patient();
			assertThat(last(context, "patient").reason())
				.isEqualTo("skipped: held by pod-7 (host host-7, pid 77) after waiting for PT0.1S");

			assertThatIllegalStateException().isThrownBy(job::failing);
			assertThat(last(context, "failing")).satisfies((entry) -> {
				assertThat(entry.outcome()).isEqualTo(Outcome.FAILED);
				assertThat(entry.error()).isEqualTo(IllegalStateException.class.getName());
			});

			Thread.currentThread().interrupt();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(job::patient);
			assertThat(Thread.interrupted()).isTrue();
			assertThat(last(context, "patient").reason()).contains("was interrupted while it asked");

			context.getBean(LockEngine.class).drain(Duration.ZERO);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(job::plain);
			assertThat(last(context, "plain").reason()).contains("the application is shutting down");
			assertThat(output).doesNotContain("ERROR");
		});
	}

	@Test
	@DisplayName("C133 a table that is missing is no lock that is held")
	void storeThatFailsIsNoContention() {
		run((context) -> {
			Job job = context.getBean(Job.class);
			job.daily();
			JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
			jdbc.execute("drop table mutex_run");
			jdbc.execute("drop table mutex_lock");
			assertThatExceptionOfType(MutexException.class).isThrownBy(job::daily)
				.withMessageContaining("mutex.jdbc.initialize-schema");
			assertThat(last(context, "daily")).satisfies((entry) -> {
				assertThat(entry.outcome()).isEqualTo(Outcome.STORE_ERROR);
				assertThat(entry.reason()).startsWith("The jdbc provider cannot use table ");
			});
		});
	}

	@Test
	@DisplayName("C133 a key that is too long is no lock that is held")
	void keyThatIsTooLongIsNoContention() {
		run((context) -> assertThatExceptionOfType(MutexException.class)
			.isThrownBy(() -> context.getBean(Job.class).importFile("x".repeat(201)))
			.withMessageContaining("longer than 200 characters")
			.withMessageContaining("the method has not run"));
	}

	/** Jobs that run for no time. */
	static class Job {

		@SingleRun(key = "daily", per = "day")
		void daily() {
		}

		@SingleRun(key = "plain")
		void plain() {
		}

		@SingleRun(key = "patient", waitFor = "100ms")
		void patient() {
		}

		@SingleRun(key = "failing", per = "day")
		void failing() {
			throw new IllegalStateException("no paper");
		}

		@SingleRun(key = "import:#{#file}", per = "day")
		void importFile(String file) {
		}

	}

}
