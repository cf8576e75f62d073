package io.mutex.autoconfigure;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mutex.LockProvider;
import io.mutex.MutexTemplate;
import io.mutex.actuate.endpoint.LocksEndpoint;
import io.mutex.annotation.SingleRun;
import io.mutex.metrics.MutexMetrics;
import jakarta.servlet.Filter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.sql.init.dependency.DatabaseInitializerDetector;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.util.pattern.PathPattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every optional technology may be missing, alone and with all the others.
 */
@Tag("compatibility")
class OptionalTechnologyTests {

	@TempDir
	Path directory;

	private ApplicationContextRunner runner() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MutexAutoConfiguration.class))
			.withUserConfiguration(Job.class)
			.withPropertyValues("spring.application.name=test", "mutex.file.directory=" + this.directory,
					"management.endpoints.web.exposure.include=*");
	}

	static Stream<Class<?>> technologies() {
		return Stream.of(JdbcTemplate.class, EmbeddedDatabaseConnection.class, HikariDataSource.class,
				DatabaseInitializerDetector.class, PlatformTransactionManager.class, RedisConnectionFactory.class,
				RedisClient.class, Jedis.class, MeterRegistry.class, HealthIndicator.class, InfoContributor.class,
				Endpoint.class, ConditionalOnAvailableEndpoint.class, PathPattern.class, Filter.class, WebClient.class,
				RestClientCustomizer.class, WebClientCustomizer.class);
	}

	@ParameterizedTest
	@MethodSource("technologies")
	void startsWithout(Class<?> technology) {
		runner().withClassLoader(without(Stream.of(technology)))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockProvider.class)
				.hasSingleBean(MutexTemplate.class));
	}

	@Test
	void startsWithoutAnyOfThem() {
		runner().withClassLoader(without(technologies())).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class);
			assertThat(context).doesNotHaveBean("mutexHealthIndicator");
			assertThat(context).doesNotHaveBean("mutexInfoContributor");
			assertThat(context).doesNotHaveBean("mutexMetrics");
			assertThat(context.getBean(LockProvider.class).name()).isEqualTo("file");
		});
	}

	@Test
	void showsWhatItHasWhereTheTechnologiesAreThere() {
		runner().withBean(MeterRegistry.class, SimpleMeterRegistry::new).run((context) -> {
			assertThat(context).hasSingleBean(LocksEndpoint.class).hasSingleBean(MutexMetrics.class);
			assertThat(context).hasBean("mutexHealthIndicator");
			assertThat(context).hasBean("mutexInfoContributor");
		});
		runner().withPropertyValues("management.info.mutex.enabled=false", "management.health.mutex.enabled=false")
			.run((context) -> {
				assertThat(context).doesNotHaveBean("mutexHealthIndicator");
				assertThat(context).doesNotHaveBean("mutexInfoContributor");
			});
	}

	private static FilteredClassLoader without(Stream<Class<?>> technologies) {
		List<String> prefixes = technologies.map((technology) -> technology.getPackageName() + ".").toList();
		Predicate<String> absent = (name) -> prefixes.stream().anyMatch(name.replace('/', '.')::startsWith);
		return new FilteredClassLoader(absent);
	}

	/**
	 * A bean that class loaders of all kinds can see.
	 */
	public static class Job {

		@SingleRun(key = "job", per = "day")
		public void run() {
		}

	}

}
