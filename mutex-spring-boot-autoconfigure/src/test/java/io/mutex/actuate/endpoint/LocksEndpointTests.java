package io.mutex.actuate.endpoint;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Owner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint over HTTP: what it shows, and who may free a lock.
 */
class LocksEndpointTests {

	private static final String OTHER = "0123456789abcdef0123456789abcdef";

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext context = new GenericApplicationContext();

	@AfterEach
	void stop() {
		this.context.close();
	}

	private void start(String... properties) {
		String[] arguments = new String[properties.length + 4];
		arguments[0] = "--server.port=0";
		arguments[1] = "--spring.application.name=shop";
		arguments[2] = "--management.endpoints.web.exposure.include=*";
		arguments[3] = "--spring.main.banner-mode=off";
		System.arraycopy(properties, 0, arguments, 4, properties.length);
		this.context = SpringApplication.run(Application.class, arguments);
	}

	private HttpResponse<String> call(String method, String path) throws Exception {
		int port = ((WebServerApplicationContext) this.context).getWebServer().getPort();
		return this.http.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/locks" + path))
			.method(method, HttpRequest.BodyPublishers.noBody())
			.timeout(Duration.ofSeconds(30))
			.build(), HttpResponse.BodyHandlers.ofString());
	}

	private void holdElsewhere(String key) {
		Acquisition answer = this.context.getBean(LockProvider.class)
			.acquire(new AcquireRequest(key, "name", OTHER, new Owner("pod-7", "host-7", 77, "worker"),
					Duration.ofMinutes(1), 0, null, 0, 1));
		assertThat(answer).isInstanceOf(Acquisition.Granted.class);
	}

	@Test
	void showsTheLocksOfAllInstances() throws Exception {
		start();
		holdElsewhere("account:42");
		this.context.getBean(MutexTemplate.class).execute(LockRequest.of("report").withName("report-name"), (lease) -> {
			assertLocks(call("GET", "").body(), lease.token().value());
			return "done";
		});
		assertThat(call("GET", "").body()).contains("account:42").doesNotContain("\"report\"");
	}

	private static void assertLocks(String body, long token) {
		assertThat(body).contains("\"provider\":\"memory\"")
			.contains("\"namespace\":\"shop\"")
			.contains("\"key\":\"account:42\"")
			.contains("\"instance\":\"pod-7\"")
			.contains("\"local\":false")
			.contains("\"name\":\"report-name\"")
			.contains("\"token\":" + token)
			.contains("\"local\":true")
			.contains("\"acquiredAt\":\"")
			.contains("\"expiresAt\":\"")
			.contains("\"heldFor\":\"PT")
			.contains("\"waiters\":0");
	}

	@Test
	void showsOneLockAlsoOfAKeyWithSlashes() throws Exception {
		start();
		holdElsewhere("import/2026/file.csv");
		assertThat(call("GET", "/import/2026/file.csv").body()).contains("\"key\":\"import/2026/file.csv\"");
		assertThat(call("GET", "/import").statusCode()).isEqualTo(404);
	}

	@Test
	void freesNothingUnlessTheAccessIsOpened() throws Exception {
		start();
		holdElsewhere("account:42");
		assertThat(call("DELETE", "/account:42").statusCode()).isEqualTo(405);
		assertThat(call("GET", "").body()).contains("account:42");
	}

	@Test
	void freesALockByForceWhenTheAccessIsOpened() throws Exception {
		start("--management.endpoint.locks.access=unrestricted");
		holdElsewhere("account:42");
		HttpResponse<String> freed = call("DELETE", "/account:42");
		assertThat(freed.statusCode()).isEqualTo(200);
		assertThat(freed.body()).contains("\"result\":\"freed\"", "\"guards\":\"none: the work of the former holder");
		assertThat(call("GET", "/account:42").statusCode()).isEqualTo(404);
		assertThat(call("DELETE", "/account:42").statusCode()).isEqualTo(404);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DataSourceAutoConfiguration.class, DataRedisAutoConfiguration.class })
	static class Application {

		@Bean
		LockProvider lockProvider() {
			return new MemoryLockProvider();
		}

	}

}
