package io.mutex.http;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.http.IdempotentRequests.Begun;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/**
 * Answers repeated WebFlux requests as {@link IdempotentRequests} decides, asking the
 * store on a thread that may block. The answer to a request with a key is collected in
 * memory before it is sent; one that is written as a stream is not, and not kept.
 */
public final class IdempotencyWebFilter implements WebFilter {

	private final IdempotentRequests requests;

	private final RequestPaths paths;

	/**
	 * Creates a filter.
	 * @param requests decides
	 * @param paths the requests to look at
	 */
	public IdempotencyWebFilter(IdempotentRequests requests, RequestPaths paths) {
		this.requests = requests;
		this.paths = paths;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		ServerHttpRequest request = exchange.getRequest();
		List<String> lines = request.getHeaders().getOrEmpty(IdempotencyKey.NAME);
		if (!IdempotentRequests.isKeyed(request.getMethod().name(), lines)
				|| !this.paths.contain(request.getPath().pathWithinApplication())) {
			return chain.filter(exchange);
		}
		boolean comparable = IdempotentRequests.isComparable(request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE));
		Mono<byte[]> body = comparable ? read(request) : Mono.just(new byte[0]);
		Mono<Optional<Principal>> user = exchange.getPrincipal().map(Optional::of).defaultIfEmpty(Optional.empty());
		return Mono.zip(body, user).flatMap((known) -> {
			ServerHttpRequest repeatable = comparable ? new BufferedRequest(request, known.getT1()) : request;
			String digest = digest(request, known.getT1());
			return Mono.fromCallable(() -> this.requests.begin(lines, known.getT2().orElse(null), digest))
				.subscribeOn(Schedulers.boundedElastic())
				.flatMap((begun) -> (begun.answer() != null) ? repeat(begun.answer(), exchange.getResponse())
						: process(begun, exchange.mutate().request(repeatable), exchange.getResponse(), chain));
		})
			.onErrorResume(RequestRefusedException.class,
					(ex) -> FencingWebFilter.answer(exchange.getResponse(), ex.problem()));
	}

	private Mono<byte[]> read(ServerHttpRequest request) {
		return DataBufferUtils.join(request.getBody(), this.requests.maxSize())
			.map(IdempotencyWebFilter::bytes)
			.defaultIfEmpty(new byte[0])
			.onErrorMap(DataBufferLimitException.class,
					(ex) -> new RequestRefusedException(IdempotentRequests.tooLarge(), ex));
	}

	private static String digest(ServerHttpRequest request, byte[] body) {
		String query = request.getURI().getRawQuery();
		return new Digest().add(request.getMethod().name())
			.add(request.getURI().getRawPath())
			.add((query != null) ? query : "")
			.add(body)
			.text();
	}

	private static Mono<Void> repeat(StoredResponse answer, ServerHttpResponse response) {
		response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
		answer.headers().forEach((name, values) -> response.getHeaders().put(name, List.copyOf(values)));
		response.getHeaders().set(IdempotentRequests.REPEATED, "true");
		response.getHeaders().setContentLength(answer.body().length);
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(answer.body())));
	}

	private Mono<Void> process(Begun begun, ServerWebExchange.Builder exchange, ServerHttpResponse response,
			WebFilterChain chain) {
		KeptResponse kept = new KeptResponse(begun, response, this.requests);
		Mono<Void> work = chain.filter(exchange.response(kept).build())
			.then(kept.endUnanswered())
			.onErrorResume((ex) -> kept.abandon().then(Mono.error(ex)));
		// goes on when the client has gone, so that its next request finds the answer
		return Mono.deferContextual((context) -> Mono.fromFuture(work.contextWrite(context).toFuture(), true));
	}

	private static byte[] bytes(DataBuffer buffer) {
		try {
			byte[] bytes = new byte[buffer.readableByteCount()];
			buffer.read(bytes);
			return bytes;
		}
		finally {
			DataBufferUtils.release(buffer);
		}
	}

	/**
	 * A request whose body has been read, and is given once more to who processes it.
	 */
	private static final class BufferedRequest extends ServerHttpRequestDecorator {

		private final byte[] body;

		BufferedRequest(ServerHttpRequest request, byte[] body) {
			super(request);
			this.body = body;
		}

		@Override
		public Flux<DataBuffer> getBody() {
			return (this.body.length == 0) ? Flux.empty()
					: Flux.defer(() -> Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(this.body)));
		}

	}

	/**
	 * Keeps the answer before it is sent.
	 */
	private static final class KeptResponse extends ServerHttpResponseDecorator {

		private final Begun begun;

		private final IdempotentRequests requests;

		private final AtomicBoolean ended = new AtomicBoolean();

		KeptResponse(Begun begun, ServerHttpResponse response, IdempotentRequests requests) {
			super(response);
			this.begun = begun;
			this.requests = requests;
		}

		@Override
		public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
			return DataBufferUtils.join(body)
				.map(IdempotencyWebFilter::bytes)
				.defaultIfEmpty(new byte[0])
				.flatMap((bytes) -> end(bytes)
					.then(Mono.defer(() -> super.writeWith(Mono.fromSupplier(() -> bufferFactory().wrap(bytes))))));
		}

		@Override
		public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
			return end(null).then(Mono.defer(() -> super.writeAndFlushWith(body)));
		}

		@Override
		public Mono<Void> setComplete() {
			return end(new byte[0]).then(Mono.defer(super::setComplete));
		}

		Mono<Void> endUnanswered() {
			return Mono.defer(() -> end(new byte[0]));
		}

		private Mono<Void> end(byte @Nullable [] body) {
			return once(() -> {
				HttpStatusCode status = getStatusCode();
				Map<String, List<String>> headers = new TreeMap<>();
				getHeaders().forEach(headers::put);
				this.requests.end(this.begun, (status != null) ? status.value() : 200, headers, body);
			});
		}

		Mono<Void> abandon() {
			return once(() -> this.requests.abandon(this.begun));
		}

		private Mono<Void> once(Runnable step) {
			return Mono.defer(() -> this.ended.compareAndSet(false, true)
					? Mono.<Void>fromRunnable(step).subscribeOn(Schedulers.boundedElastic()) : Mono.empty());
		}

	}

}
