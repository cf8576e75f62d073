package com.example.orders;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application with locks and records in memory.
 */
class InMemoryTests {

	@Test
	void eachContextHasAStateOfItsOwn() {
		try (ConfigurableApplicationContext one = start("mutex.provider=memory");
				ConfigurableApplicationContext two = start("mutex.provider=memory")) {
			for (ConfigurableApplicationContext context : List.of(one, two)) {
				InvoiceJob job = context.getBean(InvoiceJob.class);
				assertThat(job.invoice("2026-11-29")).isEqualTo("2026-11-29");
				assertThat(job.invoice("2026-11-29")).isNull();
				assertThat(context.getBean(InvoiceRepository.class).countByBusinessDay("2026-11-29")).isOne();
			}
		}
	}

	@Test
	void withoutRecordsASecondCallRunsAndOnlyNoTwoAtOnce() {
		try (ConfigurableApplicationContext context = start("mutex.provider=memory",
				"mutex.single-run.records=false")) {
			InvoiceJob job = context.getBean(InvoiceJob.class);
			assertThat(job.invoice("2026-11-29")).isEqualTo("2026-11-29");
			assertThat(job.invoice("2026-11-29")).isEqualTo("2026-11-29");
			assertThat(context.getBean(InvoiceRepository.class).countByBusinessDay("2026-11-29")).isEqualTo(2);
		}
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(OrdersApplication.class).web(WebApplicationType.NONE)
			.properties("spring.datasource.generate-unique-name=true", "spring.main.banner-mode=off")
			.properties(properties)
			.run();
	}

}
