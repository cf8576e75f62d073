package com.example.orders;

import io.mutex.MutexTemplate;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A slice of the application, in which the annotations do nothing.
 */
@DataJpaTest
@Import(InvoiceJob.class)
class InvoiceSliceTests {

	@Autowired
	private InvoiceJob job;

	@Autowired
	private InvoiceRepository invoices;

	@Autowired
	private ObjectProvider<MutexTemplate> template;

	@Test
	void annotationsAreInert() {
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
		assertThat(this.job.invoice("2026-11-29")).isEqualTo("2026-11-29");
		assertThat(this.invoices.countByBusinessDay("2026-11-29")).isEqualTo(2);
		assertThat(this.job.correct("42", null, null)).isEqualTo("42 - -");
		assertThat(this.template.getIfAvailable()).isNull();
	}

}
