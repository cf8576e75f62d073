package com.example.orders;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mutex.AcquireRequest;
import io.mutex.FencingToken;
import io.mutex.Leases;
import io.mutex.LockProvider;
import io.mutex.StaleFencingTokenException;
import io.mutex.annotation.Fenced;
import io.mutex.run.Owner;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A worker that was overtaken while it was paused: whatever way it writes, its
 * successor's data stay as they are.
 */
@SpringBootTest(properties = { "mutex.provider=jdbc", "mutex.namespace=overtaken",
		"spring.datasource.generate-unique-name=true" })
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class OvertakenTests {

	@Autowired
	private Corrections corrections;

	@Autowired
	private InvoiceRepository invoices;

	@Autowired
	private LockProvider provider;

	@Autowired
	private MeterRegistry meters;

	@BeforeEach
	void reset() {
		this.provider.forceRelease("customer:42");
		this.invoices.deleteAll();
	}

	@Test
	void eachWayToWriteIsChecked() {
		assertThat(this.corrections.correct("42", null)).isPositive();
		assertThat(this.invoices.countByBusinessDay("42")).isEqualTo(4);
		assertThat(this.provider.lock("customer:42")).isEmpty();
	}

	@Test
	@DisplayName("C69 a paused worker that was overtaken can write no more, and each refusal is counted")
	void overtakenWorkerWritesNoMore() {
		double before = rejected();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.corrections.post("42", this::overtake));
		assertThat(this.invoices.countByBusinessDay("42")).isZero();
		assertThat(this.invoices.countByBusinessDay("successor")).isOne();
		assertThat(rejected()).isEqualTo(before + 1);
	}

	private double rejected() {
		return this.meters.counter("mutex.fencing.rejected", "name", "customer:#{#id}", "provider", "jdbc").count();
	}

	private void overtake() {
		this.provider.forceRelease("customer:42");
		this.provider.acquire(new AcquireRequest("customer:42", "customer", "f".repeat(32),
				new Owner("successor", "host", 1, "main"), Duration.ofMinutes(1), 0, null, 0, 1));
		Thread successor = new Thread(() -> this.invoices.save(new Invoice("successor")));
		successor.start();
		try {
			successor.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	@Transactional
	void testThatIsRolledBackKeepsTheKeyUntilItsEnd() {
		this.corrections.post("42", () -> {
		});
		assertThat(this.provider.lock("customer:42")).isPresent();
		this.corrections.post("42", () -> {
		});
		assertThat(this.invoices.countByBusinessDay("42")).isEqualTo(2);
		assertThat(Leases.find("customer:42")).isPresent();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Corrections corrections(InvoiceRepository invoices, JdbcTemplate jdbc, PlatformTransactionManager manager) {
			return new Corrections(invoices, jdbc, manager);
		}

		@Bean
		SimpleMeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

	static class Corrections {

		private final InvoiceRepository invoices;

		private final JdbcTemplate jdbc;

		private final TransactionTemplate transaction;

		private final TransactionTemplate inNew;

		Corrections(InvoiceRepository invoices, JdbcTemplate jdbc, PlatformTransactionManager manager) {
			this.invoices = invoices;
			this.jdbc = jdbc;
			this.transaction = new TransactionTemplate(manager);
			this.inNew = new TransactionTemplate(manager);
			this.inNew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		}

		@Fenced("customer:#{#id}")
		long correct(String id, @Nullable FencingToken token) {
			this.invoices.save(new Invoice(id));
			this.jdbc.update("INSERT INTO invoice (id, business_day) VALUES (1000, ?)", id);
			this.transaction.executeWithoutResult((status) -> {
				this.invoices.save(new Invoice(id));
				this.inNew.executeWithoutResult((inner) -> this.invoices.save(new Invoice(id)));
			});
			return (token != null) ? token.value() : 0;
		}

		@Fenced("customer:#{#id}")
		@Transactional
		void post(String id, Runnable then) {
			this.invoices.save(new Invoice(id));
			then.run();
		}

	}

}
