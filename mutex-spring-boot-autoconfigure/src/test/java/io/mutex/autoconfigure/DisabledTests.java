package io.mutex.autoconfigure;

import java.util.Optional;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that has switched locking off, as a test of it may.
 */
class DisabledTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
		.withUserConfiguration(Work.class)
		.withPropertyValues("mutex.enabled=false");

	@Test
	void bodiesGetTokensAndLeasesOfThisProcess() {
		this.runner.run((context) -> {
			Work work = context.getBean(Work.class);
			long first = work.fenced(null, null);
			assertThat(work.fenced(null, null)).isGreaterThan(first);
			assertThat(Leases.current()).isEmpty();
		});
	}

	@Test
	void jobsRunAsOftenAsTheyAreCalled() {
		this.runner.run((context) -> {
			Work work = context.getBean(Work.class);
			assertThat(work.job()).contains("ran");
			assertThat(work.job()).contains("ran");
		});
	}

	@Test
	void theTemplateRunsEverythingAndNestsWithTheSameToken() {
		this.runner.run((context) -> {
			MutexTemplate template = context.getBean(MutexTemplate.class);
			LockRequest request = LockRequest.of("key").withUnit(RunUnit.of("unit"));
			RunResult<Boolean> result = template.singleRun(request,
					(outer) -> template.execute(LockRequest.of("key"), (inner) -> inner.token().equals(outer.token())));
			assertThat(result.outcome()).isEqualTo(Outcome.EXECUTED);
			assertThat(result.value()).isTrue();
			assertThat(template.singleRun(request, (lease) -> lease.unit()).value()).isEqualTo("unit");
		});
	}

	static class Work {

		@Fenced(key = "account")
		long fenced(@Nullable FencingToken token, @Nullable Lease lease) {
			assertThat(token).isNotNull();
			assertThat(lease).isNotNull();
			assertThat(Leases.assertHeld("account")).isSameAs(lease);
			return token.value();
		}

		@SingleRun(key = "job", per = "day")
		Optional<String> job() {
			return Optional.of("ran");
		}

	}

}
