package io.mutex.http;

import java.util.concurrent.atomic.AtomicReference;

import io.mutex.Lease;
import io.mutex.Leases;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.client.reactive.ClientHttpRequest;
import org.springframework.http.client.reactive.ClientHttpRequestDecorator;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClient;

/**
 * Sends the fencing token of a lease, and an idempotency key, with the requests of a
 * {@code WebClient} to listed hosts, as {@link FencingClientInterceptor} does.
 * <p>
 * The lease is the innermost one of the thread that describes the request
 * ({@code post()}, {@code get()}, ...), whichever thread subscribes; where the filter was
 * added by other means than {@link #addTo}, that of the thread that subscribes. The lease
 * has to be valid still when the request is sent: a protected method that returns a
 * {@code Mono} which it has not waited for has given it up. A request that is subscribed
 * to again, as by {@code retry()}, keeps its idempotency key.
 * <p>
 * The body is collected in memory, since the key depends on it. One that is written as a
 * stream, with a flush after each element, is not: the key of such a request does not
 * depend on its body.
 */
public final class FencingExchangeFilter implements ExchangeFilterFunction {

	private static final String ATTRIBUTE = FencingExchangeFilter.class.getName() + ".sender";

	private final FencedHosts hosts;

	private final RequestOrdinals ordinals = new RequestOrdinals();

	/**
	 * Creates a filter.
	 * @param hosts the hosts that are told the token
	 */
	public FencingExchangeFilter(FencedHosts hosts) {
		this.hosts = hosts;
	}

	/**
	 * Adds this filter to a client, and what notes the lease of the calling thread.
	 * @param client the client
	 */
	public void addTo(WebClient.Builder client) {
		client
			.defaultRequest((request) -> Leases.current()
				.ifPresent((lease) -> request.attribute(ATTRIBUTE, new Sender(lease, new AtomicReference<>()))))
			.filter(this);
	}

	@Override
	public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
		Sender sender = request.attribute(ATTRIBUTE).map(Sender.class::cast).orElseGet(Sender::current);
		if (sender == null || !this.hosts.contain(request.url())) {
			return next.exchange(request);
		}
		sender.lease().assertValid();
		ClientRequest.Builder fenced = ClientRequest.from(request)
			.headers((headers) -> FencingClientInterceptor.addToken(headers, sender.lease()));
		if (IdempotencyKey.isReading(request.method().name())
				|| request.headers().containsHeader(IdempotencyKey.NAME)) {
			return next.exchange(fenced.build());
		}
		fenced.body((output, context) -> request.body()
			.insert(new KeyedRequest(output, request, sender, this.ordinals), context));
		return next.exchange(fenced.build()).doOnNext((response) -> {
			if (IdempotencyKey.isOpen(response.statusCode(), response.headers().asHttpHeaders())) {
				sender.reuse(this.ordinals);
			}
		}).doOnError((ex) -> sender.reuse(this.ordinals)).doOnCancel(() -> sender.reuse(this.ordinals));
	}

	/**
	 * On whose behalf a request is sent, however often it is.
	 *
	 * @param lease the lease
	 * @param key the idempotency key, once it is known
	 */
	private record Sender(Lease lease, AtomicReference<@Nullable IdempotencyKey> key) {

		static @Nullable Sender current() {
			return Leases.current().map((lease) -> new Sender(lease, new AtomicReference<>())).orElse(null);
		}

		String key(RequestOrdinals ordinals, ClientRequest request, byte[] body) {
			IdempotencyKey known = this.key.get();
			if (known == null) {
				known = IdempotencyKey.choose(ordinals, this.lease, request.method().name(), request.url(), body);
				this.key.set(known);
			}
			return known.value();
		}

		// a request that is sent again takes the same one
		void reuse(RequestOrdinals ordinals) {
			IdempotencyKey known = this.key.getAndSet(null);
			if (known != null) {
				known.reuse(ordinals);
			}
		}

	}

	/**
	 * Adds the key before the headers are sent, when the body is known.
	 */
	private static final class KeyedRequest extends ClientHttpRequestDecorator {

		private final ClientRequest request;

		private final Sender sender;

		private final RequestOrdinals ordinals;

		KeyedRequest(ClientHttpRequest output, ClientRequest request, Sender sender, RequestOrdinals ordinals) {
			super(output);
			this.request = request;
			this.sender = sender;
			this.ordinals = ordinals;
		}

		@Override
		public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
			return DataBufferUtils.join(body).map(KeyedRequest::bytes).defaultIfEmpty(new byte[0]).flatMap((bytes) -> {
				addKey(bytes);
				return super.writeWith(Mono.fromSupplier(() -> bufferFactory().wrap(bytes)));
			});
		}

		@Override
		public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
			addKey(new byte[0]);
			return super.writeAndFlushWith(body);
		}

		@Override
		public Mono<Void> setComplete() {
			addKey(new byte[0]);
			return super.setComplete();
		}

		private void addKey(byte[] body) {
			getHeaders().set(IdempotencyKey.NAME, this.sender.key(this.ordinals, this.request, body));
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

	}

}
