package io.mutex.http;

import java.util.List;

import io.mutex.Lease;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/**
 * Refuses WebFlux requests with a stale fencing token with 409, as {@link FencedRequests}
 * decides, asking the guard on a thread that may block.
 * <p>
 * No lease is bound to a thread while the request is processed, since it is not processed
 * by one: what the handler writes is checked again only if it passes {@link #leases} on,
 * as with {@link io.mutex.Leases#bind} around a blocking transaction.
 */
public final class FencingWebFilter implements WebFilter {

	private static final String LEASES = FencingWebFilter.class.getName() + ".leases";

	private final FencedRequests requests;

	private final RequestPaths paths;

	/**
	 * Creates a filter.
	 * @param requests decides
	 * @param paths the requests to look at
	 */
	public FencingWebFilter(FencedRequests requests, RequestPaths paths) {
		this.requests = requests;
		this.paths = paths;
	}

	/**
	 * The leases with the tokens of a request.
	 * @param exchange the request
	 * @return one for each resource that the request names, in that order
	 */
	public static List<Lease> leases(ServerWebExchange exchange) {
		return exchange.getAttributeOrDefault(LEASES, List.of());
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		if (!this.paths.contain(exchange.getRequest().getPath().pathWithinApplication())) {
			return chain.filter(exchange);
		}
		String method = exchange.getRequest().getMethod().name();
		List<String> lines = exchange.getRequest().getHeaders().getOrEmpty(FencingHeader.NAME);
		return Mono.fromCallable(() -> this.requests.admit(method, lines))
			.subscribeOn(lines.isEmpty() ? Schedulers.immediate() : Schedulers.boundedElastic())
			.flatMap((leases) -> process(leases, exchange, chain))
			.onErrorResume(RequestRefusedException.class, (ex) -> answer(exchange.getResponse(), ex.problem()));
	}

	private Mono<Void> process(List<RemoteLease> leases, ServerWebExchange exchange, WebFilterChain chain) {
		exchange.getAttributes().put(LEASES, leases);
		return chain.filter(exchange).onErrorResume((failure) -> {
			Problem refusal = exchange.getResponse().isCommitted() ? null : this.requests.refusalOf(leases, failure);
			return (refusal != null) ? answer(exchange.getResponse(), refusal) : Mono.error(failure);
		}).doFinally((signal) -> leases.forEach(RemoteLease::end));
	}

	static Mono<Void> answer(ServerHttpResponse response, Problem problem) {
		byte[] body = problem.json();
		response.setStatusCode(HttpStatusCode.valueOf(problem.status()));
		response.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
		response.getHeaders().setContentLength(body.length);
		if (problem.retry()) {
			response.getHeaders().set(HttpHeaders.RETRY_AFTER, "1");
		}
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
	}

}
