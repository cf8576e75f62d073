package io.mutex.actuate.endpoint;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.AcquireRequest;
import io.mutex.Acquisition;
import io.mutex.LockProvider;
import io.mutex.LockProvider.Grant;
import io.mutex.annotation.SingleRun;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.interceptor.MutexAnnotationBeanPostProcessor;
import io.mutex.memory.MemoryLockProvider;
import io.mutex.run.Owner;
import io.mutex.run.RunUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The endpoint over HTTP: what it says of jobs, and who may run one.
 */
@ExtendWith(OutputCaptureExtension.class)
class SingleRunsEndpointTests {

	private static final String OTHER = "0123456789abcdef0123456789abcdef";

	private static final Owner POD = new Owner("pod-7", "host-7", 77, "worker");

	private final HttpClient http = HttpClient.newHttpClient();

	private ConfigurableApplicationContext context = new GenericApplicationContext();

	@AfterEach
	void stop() {
		this.context.close();
	}

	private Jobs start(String... properties) {
		String[] arguments = new String[properties.length + 5];
		arguments[0] = "--server.port=0";
		arguments[1] = "--spring.application.name=shop";
		arguments[2] = "--management.endpoints.web.exposure.include=*";
		arguments[3] = "--spring.main.banner-mode=off";
		arguments[4] = "--mutex.instance-id=pod-1";
		System.arraycopy(properties, 0, arguments, 5, properties.length);
		this.context = SpringApplication.run(Application.class, arguments);
		return this.context.getBean(Jobs.class);
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

	private String get(String path) throws Exception {
		return call("GET", path).body();
	}

	@Test
	void beginsWithTheLastSuccess() throws Exception {
		Jobs jobs = start();
		assertThat(get("/daily")).contains("\"summary\":\"Never ran; next due ")
			.contains("\"state\":\"OPEN\"")
			.doesNotContain("lastSuccess");
		jobs.daily();
		jobs.daily();
		assertThat(state().runs).hasValue(1);
		assertThat(get("/daily")).startsWith("{\"name\":\"daily\",\"summary\":\"Fine: ran once, ")
			.contains(" ms on pod-1; next due ")
			.contains(" 03:00 Europe/Oslo\",\"lastSuccess\":{")
			.contains("\"state\":\"DONE\"")
			.contains("once per tick of cron '0 0 3 * * *' in Europe/Oslo, lease PT2M")
			.contains("\"method\":\"" + Jobs.class.getName() + ".daily()\"")
			.contains("\"outcome\":\"DONE\"")
			.contains("\"outcome\":\"EXECUTED\"")
			.contains("\"reason\":\"skipped: succeeded by pod-1 (host ");
		assertThat(get("")).contains("\"provider\":\"memory\"", "\"namespace\":\"shop\"", "\"instance\":\"pod-1\"",
				"\"declared\":4", "Fine: ran once");
	}

	@Test
	@DisplayName("C39 the endpoint shows the last failure and the last success separately")
	void saysWhyARunFailed() throws Exception {
		Jobs jobs = start();
		Grant earlier = grant("daily", RunUnit.of("2026-01-01T02:00:00Z"));
		store().complete(earlier, "2026-01-01T02:00:00Z");
		state().failing = true;
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(jobs::daily);
		assertThat(get("/daily")).contains("\"summary\":\"Failed: attempt 1 on pod-1, today ")
			.contains(": java.lang.IllegalStateException: no paper")
			.contains("; last success today ", "\"instance\":\"pod-7\"", "\"unit\":\"2026-01-01T02:00:00Z\"")
			.contains("\"errorClass\":\"java.lang.IllegalStateException\"")
			.contains("\"state\":\"FAILED\"", "\"attempt\":1");
	}

	@Test
	void saysWhoRunsTheUnitAndSinceWhen() throws Exception {
		start();
		grant("daily", currentUnit());
		assertThat(get("/daily")).contains("\"summary\":\"Running: on pod-7 since today ")
			.contains("\"state\":\"RUNNING\"");
	}

	@Test
	void saysThatTheRunOfAnotherUnitHoldsTheKey() throws Exception {
		start();
		grant("daily", RunUnit.of("2026-01-01T02:00:00Z"));
		assertThat(get("/daily"))
			.contains("\"summary\":\"Blocked: the run of another unit on pod-7 holds the key since")
			.contains("\"state\":\"BLOCKED\"");
	}

	@Test
	void saysThatNobodyKnowsHowARunEnded() throws Exception {
		start();
		Grant grant = grant("daily", currentUnit());
		store().release("daily", grant.nonce(), true);
		assertThat(get("/daily")).contains("\"summary\":\"In doubt: attempt 1 on pod-7 ended without an outcome")
			.contains("\"state\":\"IN_DOUBT\"");
	}

	@Test
	void listsTheKeysOfATemplateThatThisInstanceHasSeen() throws Exception {
		Jobs jobs = start();
		assertThat(get("")).contains("\"name\":\"import:#{#file}\",\"summary\":\"No key was seen lately");
		jobs.importFile("a/b.csv");
		jobs.importFile("c.csv");
		assertThat(get("")).contains("\"keys\":[\"import:c.csv\",\"import:a/b.csv\"]")
			.contains("Keys seen lately on this instance: 2; last success today ");
		assertThat(get("/import:a/b.csv")).contains("\"name\":\"import:#{#file}\"", "Fine: ran once, ",
				"\"policy\":\"once per day in ");
		assertThat(call("GET", "/import:a").statusCode()).isEqualTo(404);
	}

	@Test
	void showsAKeyThatNobodyDeclares() throws Exception {
		start();
		store().complete(grant("by-template", RunUnit.of("42")), "42");
		assertThat(get("/by-template")).contains("\"name\":\"by-template\"", "Fine: ran once, ", "\"unit\":\"42\"");
	}

	@Test
	void changesNothingByShowing() throws Exception {
		start();
		grant("daily", currentUnit());
		String runs = store().runs("daily", 10).toString();
		Instant acquired = store().lock("daily").orElseThrow().acquiredAt();
		get("");
		get("/daily");
		assertThat(store().runs("daily", 10)).hasToString(runs);
		assertThat(store().lock("daily").orElseThrow().acquiredAt()).isEqualTo(acquired);
	}

	@Test
	@DisplayName("C131 nobody runs a job or opens a unit unless the access is opened")
	void runsAndReopensNothingUnlessTheAccessIsOpened() throws Exception {
		start();
		assertThat(call("POST", "/daily").statusCode()).isEqualTo(405);
		assertThat(call("DELETE", "/daily?unit=2026-01-01").statusCode()).isEqualTo(405);
		assertThat(state().runs).hasValue(0);
	}

	@Test
	@DisplayName("C131 a job is run by hand under the same rules when the access is opened, and that is logged")
	void runsAJobByHandWhenTheAccessIsOpened(CapturedOutput output) throws Exception {
		start("--management.endpoint.singleruns.access=unrestricted");
		HttpResponse<String> first = call("POST", "/daily");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.body()).contains("\"outcome\":\"EXECUTED\"", "\"key\":\"daily\"", "\"unit\":\"20");
		HttpResponse<String> second = call("POST", "/daily");
		assertThat(second.statusCode()).isEqualTo(200);
		assertThat(second.body()).contains("\"outcome\":\"SKIPPED_DONE\"", "skipped: succeeded by pod-1");
		assertThat(state().runs).hasValue(1);
		assertThat(get("/daily")).contains("\"calledBy\":\"BY_HAND\"");
		assertThat(output).contains("WARN")
			.contains("Single run called by hand through the endpoint: key=daily")
			.contains("by=anonymous");
	}

	@Test
	void saysThatAJobRunByHandFailed() throws Exception {
		start("--management.endpoint.singleruns.access=unrestricted");
		state().failing = true;
		HttpResponse<String> failed = call("POST", "/daily");
		assertThat(failed.statusCode()).isEqualTo(200);
		assertThat(failed.body()).contains("\"outcome\":\"FAILED\"",
				"\"error\":\"java.lang.IllegalStateException: no paper\"");
	}

	@Test
	void waitsForTheEndOfAStage() throws Exception {
		start("--management.endpoint.singleruns.access=unrestricted");
		HttpResponse<String> answer = call("POST", "/staged");
		assertThat(answer.body()).contains("\"outcome\":\"EXECUTED\"");
		assertThat(state().runs).hasValue(1);
	}

	@Test
	void runsNothingThatCannotBeRunByHand() throws Exception {
		start("--management.endpoint.singleruns.access=unrestricted").importFile("a.csv");
		assertThat(call("POST", "/unknown").statusCode()).isEqualTo(404);
		HttpResponse<String> refused = call("POST", "/" + URLEncoder.encode("import:#{#file}", StandardCharsets.UTF_8));
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("has parameters");
		assertThat(call("POST", "/import:a.csv").statusCode()).isEqualTo(409);
	}

	@Test
	void keepsNoThreadOfTheWebServerForALongJob() throws Exception {
		start("--management.endpoint.singleruns.access=unrestricted", "--patience=200ms");
		HttpResponse<String> answer = call("POST", "/long");
		assertThat(answer.statusCode()).isEqualTo(202);
		assertThat(answer.body()).contains("still running after 200 ms");
		assertThat(get("/long")).contains("\"summary\":\"Running: on pod-1 since ");
		state().end.countDown();
		Awaitility.await().untilAsserted(() -> assertThat(get("/long")).contains("\"outcome\":\"EXECUTED\""));
	}

	private LockProvider store() {
		return this.context.getBean(LockProvider.class);
	}

	private State state() {
		return this.context.getBean(State.class);
	}

	private Grant grant(String key, RunUnit unit) {
		Duration lease = Duration.ofMinutes(1);
		Acquisition answer = store().acquire(new AcquireRequest(key, key, OTHER, POD, lease, 0, unit, 0, 1));
		assertThat(answer).isInstanceOf(Acquisition.Granted.class);
		return new Grant(key, OTHER, ((Acquisition.Granted) answer).token(), lease);
	}

	private RunUnit currentUnit() {
		DeclaredRun daily = this.context.getBean(MutexAnnotationBeanPostProcessor.class)
			.declaredRuns()
			.stream()
			.filter((run) -> run.name().equals("daily"))
			.findFirst()
			.orElseThrow();
		RunUnit unit = daily.timetable().unitAt(Instant.now());
		assertThat(unit).isNotNull();
		return unit;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DataSourceAutoConfiguration.class, DataRedisAutoConfiguration.class })
	static class Application {

		@Bean
		LockProvider lockProvider() {
			return new MemoryLockProvider();
		}

		@Bean
		State state() {
			return new State();
		}

		@Bean
		Jobs jobs(State state) {
			return new Jobs(state);
		}

		@Bean
		RunsByHand runsByHand(MutexAnnotationBeanPostProcessor postProcessor,
				@Value("${patience:20s}") Duration patience) {
			return new RunsByHand(postProcessor::call, patience);
		}

	}

	/**
	 * What the jobs do, and have done.
	 */
	static class State {

		private final AtomicInteger runs = new AtomicInteger();

		private final CountDownLatch end = new CountDownLatch(1);

		private volatile boolean failing;

	}

	/**
	 * Jobs that count their runs. Nothing fires their schedules.
	 */
	static class Jobs {

		private final State state;

		Jobs(State state) {
			this.state = state;
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Oslo")
		@SingleRun(key = "daily")
		void daily() {
			if (this.state.failing) {
				throw new IllegalStateException("no paper");
			}
			this.state.runs.incrementAndGet();
		}

		@SingleRun(key = "import:#{#file}", per = "day")
		void importFile(String file) {
			this.state.runs.incrementAndGet();
		}

		@SingleRun(key = "long", per = "none")
		void takesLong() throws InterruptedException {
			this.state.runs.incrementAndGet();
			this.state.end.await();
		}

		@SingleRun(key = "staged", per = "day")
		CompletableFuture<String> staged() {
			return CompletableFuture.supplyAsync(() -> "done " + this.state.runs.incrementAndGet());
		}

	}

}
