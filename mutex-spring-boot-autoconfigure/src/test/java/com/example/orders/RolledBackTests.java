package com.example.orders;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests in a transaction that is rolled back: what they did, the lock and the record
 * included, is gone for the next one.
 */
@SpringBootTest(properties = { "mutex.provider=jdbc", "mutex.namespace=rolled-back",
		"spring.datasource.generate-unique-name=true" })
@Transactional
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RolledBackTests {

	@Autowired
	private InvoiceJob job;

	@Autowired
	private InvoiceRepository invoices;

	@Autowired
	private LockProvider provider;

	@Autowired
	private MutexTemplate template;

	@Test
	@Order(1)
	void secondCallReentersAndNeverWaitsOnItself() {
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
		assertThat(this.provider.lock("invoices")).isPresent();
		// the unit is done as far as this transaction is concerned
		assertThat(this.job.invoice("2026-11-29")).isNull();
		assertThat(this.invoices.countByBusinessDay("2026-11-29")).isOne();
		LockRequest request = LockRequest.of("invoices").withWaitFor(Duration.ofMinutes(10));
		assertThat(this.template.<String, RuntimeException>execute(request, (lease) -> "entered")).isEqualTo("entered");
	}

	@Test
	@Order(2)
	void nextTestFindsNothingOfIt() {
		assertThat(this.invoices.countByBusinessDay("2026-11-29")).isZero();
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
	}

	@AfterTransaction
	void keyIsFree() {
		assertThat(this.provider.lock("invoices")).isEmpty();
		assertThat(this.provider.runs("invoices", 10)).noneMatch((run) -> run.status().name().equals("DONE"));
		LockRequest request = LockRequest.of("invoices").withWaitFor(Duration.ofSeconds(1));
		assertThat(this.template.<String, RuntimeException>execute(request, (lease) -> "free")).isEqualTo("free");
	}

}
