package io.mutex.http;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.mutex.MutexException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.WebFilterChain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link IdempotencyFilter} and {@link IdempotencyWebFilter} without a server.
 */
class IdempotencyFilterTests {

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1_000_000);

	private final IdempotencyFilter filter = new IdempotencyFilter(requests(this.store), all());

	private final IdempotencyWebFilter webFilter = new IdempotencyWebFilter(requests(this.store), all());

	private final AtomicInteger runs = new AtomicInteger();

	@Test
	void handlerReadsTheBodyThatWasCompared() throws Exception {
		List<String> bodies = new ArrayList<>();
		this.filter.doFilter(request("key", "größe", null), new MockHttpServletResponse(), (request, response) -> bodies
			.add(new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8)));
		this.filter.doFilter(request("key-2", "größe", null), new MockHttpServletResponse(),
				(request, response) -> bodies.add(request.getReader().readLine()));
		assertThat(bodies).containsExactly("größe", "größe");
	}

	@Test
	void formIsReadByTheServerAndNotCompared() throws Exception {
		MockHttpServletRequest form = request("key", "a=1", null);
		form.setContentType("application/x-www-form-urlencoded");
		this.filter.doFilter(form, new MockHttpServletResponse(), (request, response) -> {
			assertThat(request.getInputStream().readAllBytes()).hasSize(3);
			this.runs.incrementAndGet();
		});
		MockHttpServletRequest another = request("key", "a=2", null);
		another.setContentType("application/x-www-form-urlencoded");
		this.filter.doFilter(another, new MockHttpServletResponse(), counting(200));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void keyBelongsToItsUser() throws Exception {
		for (String user : List.of("anna", "bert")) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			this.filter.doFilter(request("key", "body", () -> user), response, counting(200));
			assertThat(response.getStatus()).isEqualTo(200);
			assertThat(response.getHeader("Idempotency-Replayed")).isNull();
		}
		assertThat(this.runs).hasValue(2);
	}

	@ParameterizedTest
	@ValueSource(ints = { 408, 409, 425, 429, 500, 503 })
	void answerThatAsksToTryAgainIsNotKept(int status) throws Exception {
		for (int i = 1; i <= 2; i++) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			this.filter.doFilter(request("key", "body", null), response, counting(status));
			assertThat(response.getStatus()).isEqualTo(status);
			assertThat(this.runs).hasValue(i);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 204, 302, 400, 404, 422 })
	void otherAnswersAreKept(int status) throws Exception {
		for (int i = 1; i <= 3; i++) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			this.filter.doFilter(request("key", "body", null), response, counting(status));
			assertThat(response.getStatus()).isEqualTo(status);
		}
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void errorPageAndExceptionLeaveTheKeyFree() throws Exception {
		this.filter.doFilter(request("key", "body", null), new MockHttpServletResponse(),
				(request, response) -> ((HttpServletResponse) response).sendError(400));
		assertThatExceptionOfType(ServletException.class).isThrownBy(() -> this.filter
			.doFilter(request("key", "body", null), new MockHttpServletResponse(), (request, response) -> {
				throw new ServletException("failed");
			}));
		this.filter.doFilter(request("key", "body", null), new MockHttpServletResponse(), counting(200));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void cookieOfTheFirstAnswerIsNotRepeated() throws Exception {
		List<MockHttpServletResponse> answers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			this.filter.doFilter(request("key", "body", null), response, (request, answer) -> {
				((HttpServletResponse) answer).addHeader("Set-Cookie", "session=1");
				((HttpServletResponse) answer).addHeader("Link", "</a>");
				((HttpServletResponse) answer).addHeader("Link", "</b>");
				answer.getWriter().write("text");
			});
			answers.add(response);
		}
		assertThat(answers.get(1).getContentAsString()).isEqualTo("text")
			.isEqualTo(answers.get(0).getContentAsString());
		assertThat(answers.get(1).getHeaders("Link")).containsExactly("</a>", "</b>");
		assertThat(answers.get(0).getHeader("Set-Cookie")).isNotNull();
		assertThat(answers.get(1).getHeader("Set-Cookie")).isNull();
	}

	@Test
	void asynchronousAnswerIsKeptAtItsEnd() throws Exception {
		MockHttpServletRequest request = request("key", "body", null);
		request.setAsyncSupported(true);
		MockHttpServletResponse response = new MockHttpServletResponse();
		this.filter.doFilter(request, response, (started, answer) -> started.startAsync(started, answer));
		MockHttpServletResponse meanwhile = new MockHttpServletResponse();
		this.filter.doFilter(request("key", "body", null), meanwhile, counting(200));
		assertThat(meanwhile.getStatus()).isEqualTo(409);
		MockAsyncContext async = (MockAsyncContext) request.getAsyncContext();
		assertThat(async).isNotNull();
		request.setAsyncStarted(false);
		request.setDispatcherType(DispatcherType.ASYNC);
		this.filter.doFilter(request, async.getResponse(), (dispatched, answer) -> answer.getWriter().write("late"));
		async.complete();
		assertThat(response.getContentAsString()).isEqualTo("late");
		MockHttpServletResponse repeated = new MockHttpServletResponse();
		this.filter.doFilter(request("key", "body", null), repeated, counting(200));
		assertThat(repeated.getContentAsString()).isEqualTo("late");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void asynchronousRequestThatEndsWithoutADispatchFreesItsKey() throws Exception {
		MockHttpServletRequest request = request("key", "body", null);
		request.setAsyncSupported(true);
		this.filter.doFilter(request, new MockHttpServletResponse(),
				(started, answer) -> started.startAsync(started, answer));
		MockAsyncContext async = (MockAsyncContext) request.getAsyncContext();
		assertThat(async).isNotNull();
		async.complete();
		this.filter.doFilter(request("key", "body", null), new MockHttpServletResponse(), counting(200));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void storeThatDoesNotAnswerLetsNothingThrough() throws Exception {
		FailingStore failing = new FailingStore();
		MockHttpServletResponse response = new MockHttpServletResponse();
		new IdempotencyFilter(requests(failing), all()).doFilter(request("key", "body", null), response, counting(200));
		assertThat(response.getStatus()).isEqualTo(503);
		MockServerWebExchange exchange = exchange("key");
		new IdempotencyWebFilter(requests(failing), all()).filter(exchange, webCounting()).block();
		assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(this.runs).hasValue(0);
		failing.began = true;
		new IdempotencyFilter(requests(failing), all()).doFilter(request("key", "body", null),
				new MockHttpServletResponse(), counting(200));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void webFluxHandlerGoesOnWhenItsClientHasGone() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		WebFilterChain slow = (handled) -> Mono.fromCallable(() -> {
			begun.countDown();
			goOn.await();
			return this.runs.incrementAndGet();
		}).subscribeOn(Schedulers.boundedElastic()).then(handled.getResponse().setComplete());
		Disposable client = this.webFilter.filter(exchange("key"), slow).subscribe();
		begun.await();
		client.dispose();
		MockServerWebExchange meanwhile = exchange("key");
		this.webFilter.filter(meanwhile, webCounting()).block();
		assertThat(meanwhile.getResponse().getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
		goOn.countDown();
		Awaitility.await().until(() -> {
			MockServerWebExchange repeated = exchange("key");
			this.webFilter.filter(repeated, webCounting()).block();
			return repeated.getResponse().getHeaders().containsHeader("Idempotency-Replayed");
		});
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void webFluxHandlerKeepsTheContextOfItsRequest() {
		this.webFilter.filter(exchange("key"), (handled) -> Mono.deferContextual((context) -> {
			assertThat(context.<String>get("user")).isEqualTo("anna");
			this.runs.incrementAndGet();
			return Mono.empty();
		})).contextWrite(Context.of("user", "anna")).block();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void webFluxHandlerThatFailsLeavesTheKeyFree() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.webFilter
				.filter(exchange("key"), (handled) -> Mono.error(new IllegalStateException("failed")))
				.block())
			.withMessage("failed");
		this.webFilter.filter(exchange("key"), webCounting()).block();
		this.webFilter.filter(exchange("key"), webCounting()).block();
		assertThat(this.runs).hasValue(1);
	}

	private FilterChain counting(int status) {
		return (request, response) -> {
			this.runs.incrementAndGet();
			((HttpServletResponse) response).setStatus(status);
		};
	}

	private WebFilterChain webCounting() {
		return (handled) -> Mono.fromRunnable(this.runs::incrementAndGet);
	}

	private static IdempotentRequests requests(IdempotencyStore store) {
		return new IdempotentRequests(store, Duration.ofHours(1), 1000);
	}

	private static RequestPaths all() {
		return new RequestPaths(List.of("/**"));
	}

	private static MockHttpServletRequest request(String key, String body, @Nullable Principal user) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/ledger");
		request.addHeader("Idempotency-Key", key);
		request.setCharacterEncoding("UTF-8");
		request.setContent(body.getBytes(StandardCharsets.UTF_8));
		request.setUserPrincipal(user);
		return request;
	}

	private static MockServerWebExchange exchange(String key) {
		return MockServerWebExchange
			.from(MockServerHttpRequest.post("/ledger").header("Idempotency-Key", key).body("body"));
	}

	/**
	 * A store that cannot be reached.
	 */
	private static final class FailingStore implements IdempotencyStore {

		private boolean began;

		@Override
		public Answer begin(String key, String request, String claim, Duration ttl) {
			if (this.began) {
				return new Answer.Claimed();
			}
			throw new MutexException("no answer");
		}

		@Override
		public void complete(String key, String claim, StoredResponse response, Duration ttl) {
			throw new MutexException("no answer");
		}

		@Override
		public void abandon(String key, String claim) {
			throw new MutexException("no answer");
		}

	}

}
