package io.mutex.sample;

import java.nio.file.Path;
import java.time.Duration;

import io.mutex.sample.LedgerService.Account;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the accounts, with locks in files and the guard beside the accounts.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:sample", "sample.report.cron=0 0 0 1 1 *" })
class LedgerServiceTests {

	@TempDir
	static Path directory;

	@DynamicPropertySource
	static void locks(DynamicPropertyRegistry registry) {
		registry.add("mutex.file.directory", () -> directory.resolve("locks"));
	}

	@Test
	void bookingsAddUpUnderRisingTokens(@Autowired LedgerService ledger) {
		Account first = ledger.post("42", 100, Duration.ZERO, null);
		Account second = ledger.post("42", -30, Duration.ofMillis(1), null);
		assertThat(second.balance()).isEqualTo(70);
		assertThat(second.token()).isGreaterThan(first.token());
		assertThat(ledger.find("42")).isEqualTo(second);
		assertThat(ledger.find("43").balance()).isZero();
	}

}
