package io.mutex.autoconfigure;

import java.nio.file.Path;

import io.mutex.FencingToken;
import io.mutex.StoreSetupException;
import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import io.mutex.fence.MemoryGuard;
import io.mutex.interceptor.MutexConfigurationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What start-up says of fenced methods and of those who check their tokens.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencingStartUpTests {

	@TempDir
	@SuppressWarnings("NullAway.Init")
	private static Path directory;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
		.withPropertyValues("mutex.namespace=test", "mutex.file.directory=" + directory, "mutex.provider=file");

	@Test
	void refusesAMethodWhoseTokenNobodyChecksAndNamesTheRemedies() {
		this.runner.withUserConfiguration(Account.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(MutexConfigurationException.class)
				.hasMessageContaining("Account.post()")
				.hasMessageContaining("mutex.fenced.jdbc.enabled=true")
				.hasMessageContaining("Fencing.NONE"));
	}

	@Test
	void methodThatTakesItsTokenHasToCheckItItself(CapturedOutput output) {
		this.runner.withUserConfiguration(WithToken.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output)
				.contains("WithToken.post(FencingToken): checked by no guard; its own statements have to");
		});
	}

	@Test
	void methodMaySayThatNobodyChecksItsToken(CapturedOutput output) {
		this.runner.withUserConfiguration(Unchecked.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Unchecked.post(): checked by nobody, as declared");
		});
	}

	@Test
	void guardOfTheApplicationChecksTheTokens(CapturedOutput output) {
		this.runner.withUserConfiguration(Account.class).withBean(MemoryGuard.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Account.post(): checked by memory guard");
			context.getBean(Account.class).post();
			assertThat(context.getBean(MemoryGuard.class).accepted("account")).isNotNull();
		});
	}

	@Test
	void memoryProviderNeedsNoGuard() {
		this.runner.withUserConfiguration(Account.class)
			.withPropertyValues("mutex.provider=memory")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void nobodyIsAskedWhileMutexIsSwitchedOff() {
		this.runner.withUserConfiguration(Account.class)
			.withPropertyValues("mutex.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void beanThatIsCreatedLaterIsRefusedThen() {
		this.runner.withUserConfiguration(LateAccount.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> context.getBean(LateAccount.class))
				.withRootCauseInstanceOf(MutexConfigurationException.class);
		});
	}

	@ParameterizedTest
	@CsvSource({ "mutex.fenced.redis.enabled, org.springframework.data.redis, spring-boot-starter-data-redis",
			"mutex.fenced.jdbc.enabled, org.springframework.jdbc, spring-boot-starter-jdbc" })
	void guardThatIsAskedForWithoutItsTechnologySaysWhatIsMissing(String property, String missing, String starter) {
		this.runner.withPropertyValues(property + "=true")
			.withClassLoader(new FilteredClassLoader(missing))
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(StoreSetupException.class)
				.hasMessageContaining(property)
				.hasMessageContaining(starter));
	}

	static class Account {

		@Fenced("account")
		void post() {
		}

	}

	@Lazy
	static class LateAccount {

		@Fenced("account")
		void post() {
		}

	}

	static class WithToken {

		@Fenced("account")
		void post(@Nullable FencingToken token) {
		}

	}

	static class Unchecked {

		@Fenced(key = "account", fencing = Fencing.NONE)
		void post() {
		}

	}

}
