package io.mutex.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.mutex.Fence;
import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.Leases;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.FenceGuard;
import io.mutex.fence.MemoryGuard;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.server.MockServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link FencingFilter} and {@link FencingWebFilter} without a server.
 */
class FencingFilterTests {

	private static final String NONCE = "0123456789abcdef0123456789abcdef";

	private final List<Object> processed = new ArrayList<>();

	private final List<StaleFencingTokenException> told = new ArrayList<>();

	private final MutexListener listener = new MutexListener() {

		@Override
		public void refused(Lease lease, StaleFencingTokenException refusal) {
			FencingFilterTests.this.told.add(refusal);
			assertThat(lease.name()).isEqualTo("Fencing-Token");
			throw new IllegalStateException("a listener that fails");
		}

	};

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS", "TRACE" })
	void missingTokenGets428WhereItIsRequired(String method) throws Exception {
		boolean reading = List.of("GET", "HEAD", "OPTIONS", "TRACE").contains(method);
		FencedRequests requests = new FencedRequests(List.of(new MemoryGuard()), List.of(), true);
		MockHttpServletResponse response = servlet(requests, method, "/ledger", null);
		assertThat(response.getStatus()).isEqualTo(reading ? 200 : 428);
		MockServerWebExchange exchange = webFlux(requests, method, "/ledger", null);
		assertThat(status(exchange)).isEqualTo(reading ? 200 : 428);
		assertThat(this.processed).hasSize(reading ? 2 : 0);
	}

	@Test
	void guardThatDoesNotAnswerGets503() throws Exception {
		for (RuntimeException failure : List.of(
				new MutexException("key", "no answer", new IOException("connection refused")),
				new IllegalStateException("any other"))) {
			FencedRequests requests = requests(new FailingGuard(failure));
			MockHttpServletResponse response = servlet(requests, "POST", "/ledger", "a;1;" + NONCE);
			assertThat(response.getStatus()).isEqualTo(503);
			assertThat(response.getHeader("Retry-After")).isEqualTo("1");
			assertThat(response.getContentAsString()).contains("guard-unavailable")
				.doesNotContain("connection refused");
			MockServerWebExchange exchange = webFlux(requests, "POST", "/ledger", "a;1;" + NONCE);
			assertThat(status(exchange)).isEqualTo(503);
			assertThat(exchange.getResponse().getHeaders().getFirst("Retry-After")).isEqualTo("1");
		}
		assertThat(this.processed).isEmpty();
	}

	@Test
	@DisplayName("C73 a resource that a key of the receiver writes to is refused")
	void resourceOfAnotherKeyGets409() throws Exception {
		MemoryGuard guard = new MemoryGuard();
		guard.register(new Fence("account:42", "account:42", new FencingToken(1), NONCE, true));
		FencedRequests requests = requests(guard);
		MockHttpServletResponse response = servlet(requests, "POST", "/ledger", "account:42;99;" + NONCE);
		assertThat(response.getStatus()).isEqualTo(409);
		assertThat(response.getContentAsString()).contains("foreign-resource");
		assertThat(status(webFlux(requests, "POST", "/ledger", "account:42;99;" + NONCE))).isEqualTo(409);
		assertThat(this.processed).isEmpty();
		assertThat(guard.accepted("account:42")).isNotNull();
		assertThat(guard.accepted("account:42").token().value()).isEqualTo(1);
	}

	@Test
	void everyGuardIsAskedAndListenersAreToldOfTheRefusal() throws Exception {
		MemoryGuard first = new MemoryGuard();
		MemoryGuard second = new MemoryGuard();
		FencedRequests requests = requests(first, second);
		servlet(requests, "POST", "/ledger", "a;2;" + NONCE);
		assertThat(first.accepted("a")).isNotNull().isEqualTo(second.accepted("a"));
		assertThat(servlet(requests, "POST", "/ledger", "a;1;" + NONCE).getStatus()).isEqualTo(409);
		assertThat(status(webFlux(requests, "POST", "/ledger", "a;1;" + NONCE))).isEqualTo(409);
		assertThat(this.told).hasSize(2);
		assertThat(this.processed).hasSize(1);
	}

	@Test
	void otherPathsAreNotLookedAt() throws Exception {
		RequestPaths paths = new RequestPaths(List.of("/ledger/**", "/stock"));
		FencedRequests requests = new FencedRequests(List.of(new MemoryGuard()), List.of(), true);
		for (String path : List.of("/ledger", "/ledger/a/b", "/stock")) {
			assertThat(servlet(requests, paths, "POST", path, null).getStatus()).isEqualTo(428);
			assertThat(status(webFlux(requests, paths, "POST", path, null))).isEqualTo(428);
		}
		for (String path : List.of("/", "/stock/1", "/ledgers")) {
			assertThat(servlet(requests, paths, "POST", path, "garbage").getStatus()).isEqualTo(200);
			assertThat(status(webFlux(requests, paths, "POST", path, "garbage"))).isEqualTo(200);
		}
	}

	@Test
	void leasesAreOnTheThreadWhileTheRequestIsProcessedAndNoLonger() throws Exception {
		List<Lease> leases = new ArrayList<>();
		new FencingFilter(requests(new MemoryGuard()), all()).doFilter(
				servletRequest("POST", "/ledger", "a;1;" + NONCE + ",b;2;" + NONCE), new MockHttpServletResponse(),
				(request, response) -> {
					leases.addAll(Leases.all());
					leases.forEach(Lease::assertValid);
				});
		assertThat(leases).extracting((lease) -> lease.fences().get(0).resource()).containsExactly("a", "b");
		assertThat(leases).allSatisfy((lease) -> {
			assertThat(lease.isValid()).isFalse();
			assertThat(lease.key()).isEqualTo("Fencing-Token");
		});
		assertThat(Leases.all()).isEmpty();
	}

	@Test
	void leasesLeaveTheThreadWhenTheRequestFails() {
		assertThatExceptionOfType(ServletException.class)
			.isThrownBy(() -> new FencingFilter(requests(new MemoryGuard()), all()).doFilter(
					servletRequest("POST", "/ledger", "a;1;" + NONCE), new MockHttpServletResponse(),
					(request, response) -> {
						throw new ServletException("failed");
					}))
			.withMessage("failed");
		assertThat(Leases.all()).isEmpty();
	}

	@Test
	void webFluxHandsTheLeasesToTheHandler() {
		MockServerWebExchange exchange = MockServerWebExchange.from(webFluxRequest("POST", "/ledger", "a;1;" + NONCE));
		new FencingWebFilter(requests(new MemoryGuard()), all())
			.filter(exchange,
					(handled) -> Mono.fromRunnable(() -> this.processed.addAll(FencingWebFilter.leases(handled))))
			.block();
		assertThat(this.processed).singleElement()
			.isInstanceOfSatisfying(Lease.class, (lease) -> assertThat(lease.token().value()).isEqualTo(1));
		assertThat(FencingWebFilter.leases(MockServerWebExchange.from(MockServerHttpRequest.get("/")))).isEmpty();
	}

	@Test
	void refusalAfterTheAnswerHasBegunIsNotHidden() {
		FilterChain committed = (request, response) -> {
			response.flushBuffer();
			throw new ServletException(new StaleFencingTokenException("a", new FencingToken(1), new FencingToken(2)));
		};
		assertThatExceptionOfType(ServletException.class)
			.isThrownBy(() -> new FencingFilter(requests(new MemoryGuard()), all())
				.doFilter(servletRequest("POST", "/ledger", "a;1;" + NONCE), new MockHttpServletResponse(), committed));
	}

	@Test
	void guardIsNeeded() {
		assertThatIllegalArgumentException().isThrownBy(() -> requests());
	}

	private FencedRequests requests(FenceGuard... guards) {
		return new FencedRequests(List.of(guards), List.of(this.listener), false);
	}

	private static RequestPaths all() {
		return new RequestPaths(List.of("/**"));
	}

	private MockHttpServletResponse servlet(FencedRequests requests, String method, String path,
			@Nullable String header) throws Exception {
		return servlet(requests, all(), method, path, header);
	}

	private MockHttpServletResponse servlet(FencedRequests requests, RequestPaths paths, String method, String path,
			@Nullable String header) throws Exception {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new FencingFilter(requests, paths).doFilter(servletRequest(method, path, header), response,
				(request, answer) -> this.processed.add(request));
		return response;
	}

	private static MockHttpServletRequest servletRequest(String method, String path, @Nullable String header) {
		MockHttpServletRequest request = new MockHttpServletRequest(method, path);
		if (header != null) {
			request.addHeader("Fencing-Token", header);
		}
		return request;
	}

	private MockServerWebExchange webFlux(FencedRequests requests, String method, String path,
			@Nullable String header) {
		return webFlux(requests, all(), method, path, header);
	}

	private MockServerWebExchange webFlux(FencedRequests requests, RequestPaths paths, String method, String path,
			@Nullable String header) {
		MockServerWebExchange exchange = MockServerWebExchange.from(webFluxRequest(method, path, header));
		new FencingWebFilter(requests, paths)
			.filter(exchange, (handled) -> Mono.fromRunnable(() -> this.processed.add(handled)))
			.block();
		return exchange;
	}

	private static MockServerHttpRequest webFluxRequest(String method, String path, @Nullable String header) {
		MockServerHttpRequest.BodyBuilder request = MockServerHttpRequest.method(HttpMethod.valueOf(method), path);
		if (header != null) {
			request.header("Fencing-Token", header);
		}
		return request.build();
	}

	private static int status(MockServerWebExchange exchange) {
		return (exchange.getResponse().getStatusCode() != null) ? exchange.getResponse().getStatusCode().value() : 200;
	}

}
