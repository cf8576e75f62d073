package com.example.orders;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two contexts of the application on one database that take turns. The one that is not in
 * use is paused by the test framework, and started again.
 */
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class AlternatingContextsTests {

	private static final String DATABASE = "spring.datasource.url=jdbc:h2:mem:alternating;DB_CLOSE_DELAY=-1";

	private static final String JDBC = "mutex.provider=jdbc";

	private static final String NAMESPACE = "mutex.namespace=alternating";

	private static final String SCHEMA = "spring.jpa.hibernate.ddl-auto=update";

	private static final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

	@Nested
	@Order(1)
	@SpringBootTest(properties = { DATABASE, JDBC, NAMESPACE, SCHEMA, "mutex.instance-id=left" })
	class Left extends Turn {

		@Test
		void runsFirst() {
			assertThat(job().invoice("first")).isEqualTo("first");
			take();
		}

	}

	@Nested
	@Order(2)
	@SpringBootTest(properties = { DATABASE, JDBC, NAMESPACE, SCHEMA, "mutex.instance-id=right" })
	class Right extends Turn {

		@Test
		void findsWhatTheOtherHasDone() {
			assertThat(contexts.get(0).isRunning()).isFalse();
			assertThat(job().invoice("first")).isNull();
			assertThat(job().invoice("second")).isEqualTo("second");
			take();
		}

	}

	@Nested
	@Order(3)
	@SpringBootTest(properties = { DATABASE, JDBC, NAMESPACE, SCHEMA, "mutex.instance-id=left" })
	class LeftAgain extends Turn {

		@Test
		void goesOnWhereItWasPaused() {
			take();
			assertThat(contexts.get(2)).isSameAs(contexts.get(0));
			assertThat(job().invoice("second")).isNull();
			assertThat(job().invoice("third")).isEqualTo("third");
		}

	}

	@Nested
	@Order(4)
	@SpringBootTest(properties = { DATABASE, JDBC, NAMESPACE, SCHEMA, "mutex.instance-id=right" })
	class RightAgain extends Turn {

		@Test
		void goesOnAsWell() {
			take();
			assertThat(contexts.get(3)).isSameAs(contexts.get(1));
			assertThat(job().invoice("third")).isNull();
			assertThat(job().invoice("fourth")).isEqualTo("fourth");
		}

	}

	abstract static class Turn {

		@Autowired
		private ConfigurableApplicationContext context;

		InvoiceJob job() {
			return this.context.getBean(InvoiceJob.class);
		}

		void take() {
			contexts.add(this.context);
			assertThat(this.context.isRunning()).isTrue();
			MutexTemplate template = this.context.getBean(MutexTemplate.class);
			assertThat(template.<String, RuntimeException>execute(LockRequest.of("turn"), (lease) -> "taken"))
				.isEqualTo("taken");
		}

	}

}
