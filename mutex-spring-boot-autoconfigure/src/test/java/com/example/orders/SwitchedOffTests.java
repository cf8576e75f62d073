package com.example.orders;

import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application without locks.
 */
@SpringBootTest(properties = "mutex.enabled=false")
class SwitchedOffTests {

	@Autowired
	private InvoiceJob job;

	@Autowired
	private InvoiceRepository invoices;

	@Autowired
	private MutexTemplate template;

	@Test
	void everyBodyRuns() {
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
		assertThat(this.invoices.countByBusinessDay("2026-11-29")).isEqualTo(2);
		this.job.remind();
		this.job.remind();
		assertThat(this.job.reminders()).hasSize(2);
	}

	@Test
	void resultsAreThoseOfARun() {
		LockRequest request = LockRequest.of("once").withUnit(RunUnit.of("only"));
		for (int i = 0; i < 2; i++) {
			assertThat(this.template.singleRun(request, (lease) -> "run").outcome()).isEqualTo(Outcome.EXECUTED);
		}
	}

	@Test
	void tokensAndLeasesAreThoseOfThisProcess() {
		String first = this.job.correct("42", null, null);
		String second = this.job.correct("42", null, null);
		assertThat(first).matches("42 \\d+ customer:42");
		assertThat(second).matches("42 \\d+ customer:42").isNotEqualTo(first);
	}

}
