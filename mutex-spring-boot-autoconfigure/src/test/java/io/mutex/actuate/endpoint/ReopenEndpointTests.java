package io.mutex.actuate.endpoint;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.annotation.SingleRun;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import io.mutex.testing.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job that is run by hand, fails and is reopened over HTTP, on real stores.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReopenEndpointTests {

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext context = new GenericApplicationContext();

	static Stream<Arguments> stores() {
		return Stream.of(Arguments.of(Named.of("memory", properties(() -> "mutex.provider=memory"))),
				Arguments.of(Named.of("H2", properties(() -> "spring.datasource.url=jdbc:h2:mem:reopen"))),
				Arguments.of(Named.of("PostgreSQL",
						properties(() -> "spring.datasource.url=" + TestServers.postgres().newDatabase()))));
	}

	private static Supplier<String> properties(Supplier<String> property) {
		return property;
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	private void start(String property) {
		this.context = SpringApplication.run(Application.class, "--server.port=0", "--spring.application.name=shop",
				"--management.endpoints.web.exposure.include=*", "--spring.main.banner-mode=off",
				"--mutex.instance-id=pod-1", "--mutex.jdbc.initialize-schema=always",
				"--management.endpoint.singleruns.access=unrestricted", "--" + property);
	}

	private HttpResponse<String> call(String method, String path) throws Exception {
		int port = ((WebServerApplicationContext) this.context).getWebServer().getPort();
		return this.http
			.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/singleruns" + path))
				.method(method, HttpRequest.BodyPublishers.noBody())
				.header("Content-Type", "application/json")
				.timeout(Duration.ofSeconds(30))
				.build(), HttpResponse.BodyHandlers.ofString());
	}

	private RunUnit unit() {
		RunUnit unit = this.context.getBean(MutexAnnotationBeanPostProcessor.class)
			.declaredRuns()
			.get(0)
			.timetable()
			.unitAt(Instant.now());
		assertThat(unit).isNotNull();
		return unit;
	}

	@ParameterizedTest
	@MethodSource("stores")
	void opensAUnitThatHasSucceededSoThatItRunsAgain(Supplier<String> property, CapturedOutput output)
			throws Exception {
		start(property.get());
		String unit = "/daily?unit=" + unit().id();
		assertThat(call("DELETE", unit).statusCode()).isEqualTo(404);
		assertThat(call("POST", "/daily").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(call("POST", "/daily").body()).contains("\"outcome\":\"SKIPPED_DONE\"");
		assertThat(call("GET", "/daily").body()).contains("\"summary\":\"Fine: ran once, ");
		HttpResponse<String> reopened = call("DELETE", unit);
		assertThat(reopened.statusCode()).isEqualTo(200);
		assertThat(reopened.body()).contains("\"result\":\"reopened\"", "\"outcome\":\"DONE\"");
		assertThat(output).contains("Unit reopened through the endpoint: key=daily unit=" + unit().id());
		assertThat(call("GET", "/daily").body()).contains("\"summary\":\"Never ran");
		assertThat(call("POST", "/daily").body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(this.context.getBean(Job.class).runs()).isEqualTo(2);
	}

	@ParameterizedTest
	@MethodSource("stores")
	void opensNothingWhileARunHoldsTheKeyAndNothingWithoutAUnit(Supplier<String> property) throws Exception {
		start(property.get());
		RunUnit unit = unit();
		Acquisition answer = this.context.getBean(LockProvider.class)
			.acquire(new AcquireRequest("daily", "daily", "0123456789abcdef0123456789abcdef",
					new Owner("pod-7", "host-7", 77, "worker"), Duration.ofMinutes(1), 0, unit, 0, 1));
		assertThat(answer).isInstanceOf(Acquisition.Granted.class);
		HttpResponse<String> refused = call("DELETE", "/daily?unit=" + unit.id());
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("refused: pod-7 holds the key");
		assertThat(call("GET", "/daily").body()).contains("\"summary\":\"Running: on pod-7 since ");
		assertThat(call("DELETE", "/daily").statusCode()).isEqualTo(400);
		HttpResponse<String> skipped = call("POST", "/daily");
		assertThat(skipped.statusCode()).isEqualTo(200);
		assertThat(skipped.body()).contains("\"outcome\":\"SKIPPED_HELD\"", "skipped: held by pod-7");
	}

	@Test
	void saysThatTheStoreCannotBeAskedAndWhatThisInstanceHasSeen() throws Exception {
		start("spring.datasource.url=jdbc:h2:mem:gone;DB_CLOSE_DELAY=-1");
		call("POST", "/daily");
		JdbcTemplate jdbc = new JdbcTemplate(this.context.getBean(DataSource.class));
		jdbc.execute("drop table mutex_run");
		jdbc.execute("drop table mutex_lock");
		assertThat(call("POST", "/daily").body()).contains("\"outcome\":\"STORE_ERROR\"");
		for (String path : new String[] { "", "/daily" }) {
			HttpResponse<String> answer = call("GET", path);
			assertThat(answer.statusCode()).isEqualTo(200);
			assertThat(answer.body()).contains("\"summary\":\"Unknown: the store cannot be asked: ")
				.contains("\"lastSuccess\":{", "\"outcome\":\"STORE_ERROR\"", "\"outcome\":\"EXECUTED\"");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataRedisAutoConfiguration.class)
	@Import(Job.class)
	static class Application {

	}

	/** A job whose schedule nothing fires. */
	static class Job {

		private final AtomicInteger runs = new AtomicInteger();

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Oslo")
		@SingleRun(key = "daily")
		void daily() {
			this.runs.incrementAndGet();
		}

		int runs() {
			return this.runs.get();
		}

	}

}
