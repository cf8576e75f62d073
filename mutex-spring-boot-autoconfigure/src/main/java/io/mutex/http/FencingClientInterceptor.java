package io.mutex.http;

import java.io.IOException;

import io.mutex.Fence;
import io.mutex.Lease;
import io.mutex.Leases;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends the fencing token of the innermost lease of the calling thread, and an
 * idempotency key, with the requests of a {@code RestClient} or {@code RestTemplate} to
 * listed hosts. A lost lease fails before anything is sent.
 * <p>
 * The idempotency key is a digest of the lease's key, of its unit or else its nonce, of
 * method, URI and body, and of the number of the request among equal ones of the lease.
 * So a later run of the unit sends the same keys again if it sends the same requests, and
 * a request that got no answer, or one of 500 and above, is sent again with its key. A
 * header that the caller has set is kept.
 * <p>
 * What it cannot do: the receiver has to check the token, and a pause between the check
 * of the lease here and the arrival of the request there is seen by the receiver only. An
 * HTTP client that follows a redirect takes the headers with it, to whatever host.
 */
public final class FencingClientInterceptor implements ClientHttpRequestInterceptor {

	private final FencedHosts hosts;

	private final RequestOrdinals ordinals = new RequestOrdinals();

	/**
	 * Creates an interceptor.
	 * @param hosts the hosts that are told the token
	 */
	public FencingClientInterceptor(FencedHosts hosts) {
		this.hosts = hosts;
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		Lease lease = Leases.current().orElse(null);
		if (lease == null || !this.hosts.contain(request.getURI())) {
			return execution.execute(request, body);
		}
		lease.assertValid();
		addToken(request.getHeaders(), lease);
		if (IdempotencyKey.isReading(request.getMethod().name())
				|| request.getHeaders().containsHeader(IdempotencyKey.NAME)) {
			return execution.execute(request, body);
		}
		IdempotencyKey key = IdempotencyKey.choose(this.ordinals, lease, request.getMethod().name(), request.getURI(),
				body);
		request.getHeaders().set(IdempotencyKey.NAME, key.value());
		boolean answered = false;
		try {
			ClientHttpResponse response = execution.execute(request, body);
			answered = !IdempotencyKey.isOpen(response.getStatusCode(), response.getHeaders());
			return response;
		}
		finally {
			if (!answered) {
				key.reuse(this.ordinals);
			}
		}
	}

	static void addToken(HttpHeaders headers, Lease lease) {
		if (!headers.containsHeader(FencingHeader.NAME)) {
			for (Fence fence : lease.fences()) {
				headers.add(FencingHeader.NAME, FencingHeader.of(fence).toString());
			}
		}
	}

}
