package io.mutex.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.micrometer.core.instrument.MeterRegistry;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MeterRegistryCustomizer;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The post-processor creates nothing of the application before its time.
 */
@Tag("compatibility")
@ExtendWith(OutputCaptureExtension.class)
class EarlyInitializationTests {

	@Test
	@DisplayName("C14 data source, meter registry and users' beans are processed by everything that processes beans")
	void createsNoBeanBeforeItsTime(CapturedOutput output) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class, MetricsAutoConfiguration.class,
					SimpleMetricsExportAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionAutoConfiguration.class))
			.withUserConfiguration(Application.class, MutexAutoConfigurationTests.Job.class)
			.withPropertyValues("spring.application.name=test")
			.run((context) -> {
				assertThat(context.getBean(MutexAutoConfigurationTests.Job.class).run()).contains("ran");
				context.getBean(MutexTemplate.class).execute(LockRequest.of("key"), (lease) -> "done");
				assertThat(context.getBean(Seen.class).names).contains("dataSource", "accounts");
				assertThat(AopUtils.isAopProxy(context.getBean(Accounts.class))).isTrue();
				assertThat(context.getBean(MeterRegistry.class).get("mutex.acquire").timers())
					.allSatisfy((timer) -> assertThat(timer.getId().getTag("region")).isEqualTo("north"));
			});
		assertThat(output).doesNotContain("is not eligible for getting processed");
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		static Seen seen() {
			return new Seen();
		}

		@Bean
		DataSource dataSource() {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL("jdbc:h2:mem:early;DB_CLOSE_DELAY=-1");
			return dataSource;
		}

		@Bean
		MeterRegistryCustomizer<MeterRegistry> region() {
			return (registry) -> registry.config().commonTags("region", "north");
		}

		@Bean
		Accounts accounts() {
			return new Accounts();
		}

	}

	static class Accounts {

		@Transactional
		public void book() {
		}

	}

	static class Seen implements BeanPostProcessor {

		private final List<String> names = new ArrayList<>();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			this.names.add(beanName);
			return bean;
		}

	}

}
