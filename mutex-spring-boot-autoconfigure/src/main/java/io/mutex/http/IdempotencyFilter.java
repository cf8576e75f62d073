package io.mutex.http;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

import io.mutex.http.IdempotentRequests.Begun;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Answers repeated servlet requests as {@link IdempotentRequests} decides. The answer to
 * a request with a key is collected in memory before it is sent.
 */
public final class IdempotencyFilter extends OncePerRequestFilter {

	private static final String STATE = IdempotencyFilter.class.getName() + ".state";

	private final IdempotentRequests requests;

	private final RequestPaths paths;

	/**
	 * Creates a filter.
	 * @param requests decides
	 * @param paths the requests to look at
	 */
	public IdempotencyFilter(IdempotentRequests requests, RequestPaths paths) {
		this.requests = requests;
		this.paths = paths;
	}

	@Override
	protected boolean shouldNotFilterAsyncDispatch() {
		return false;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (request.getAttribute(STATE) instanceof State state) {
			process(state, request, response, chain);
			return;
		}
		List<String> lines = Collections.list(request.getHeaders(IdempotencyKey.NAME));
		if (!IdempotentRequests.isKeyed(request.getMethod(), lines)
				|| !this.paths.contain(ServletRequestPathUtils.parse(request).pathWithinApplication())) {
			chain.doFilter(request, response);
			return;
		}
		HttpServletRequest repeatable = request;
		byte[] body = new byte[0];
		if (IdempotentRequests.isComparable(request.getContentType())) {
			body = request.getInputStream().readNBytes(this.requests.maxSize() + 1);
			if (body.length > this.requests.maxSize()) {
				FencingFilter.answer(response, IdempotentRequests.tooLarge());
				return;
			}
			repeatable = new BufferedRequest(request, body);
		}
		Begun begun;
		try {
			begun = this.requests.begin(lines, request.getUserPrincipal(), digest(request, body));
		}
		catch (RequestRefusedException ex) {
			FencingFilter.answer(response, ex.problem());
			return;
		}
		if (begun.answer() != null) {
			repeat(begun.answer(), response);
			return;
		}
		State state = new State(begun, new KeptResponse(response), new AtomicBoolean());
		request.setAttribute(STATE, state);
		process(state, repeatable, state.response(), chain);
	}

	private static String digest(HttpServletRequest request, byte[] body) {
		String query = request.getQueryString();
		return new Digest().add(request.getMethod())
			.add(request.getRequestURI())
			.add((query != null) ? query : "")
			.add(body)
			.text();
	}

	private static void repeat(StoredResponse answer, HttpServletResponse response) throws IOException {
		response.setStatus(answer.status());
		answer.headers().forEach((name, values) -> values.forEach((value) -> response.addHeader(name, value)));
		response.setHeader(IdempotentRequests.REPEATED, "true");
		response.setContentLength(answer.body().length);
		response.getOutputStream().write(answer.body());
	}

	private void process(State state, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		boolean returned = false;
		try {
			chain.doFilter(request, response);
			returned = true;
		}
		finally {
			if (!returned && state.ended().compareAndSet(false, true)) {
				this.requests.abandon(state.begun());
			}
		}
		if (request.isAsyncStarted()) {
			request.getAsyncContext().addListener(new Abandoning(state, this.requests));
			return;
		}
		KeptResponse kept = state.response();
		if (state.ended().compareAndSet(false, true)) {
			if (kept.isError()) {
				this.requests.abandon(state.begun());
			}
			else {
				this.requests.end(state.begun(), kept.getStatus(), kept.headers(), kept.getContentAsByteArray());
			}
		}
		kept.copyBodyToResponse();
	}

	/**
	 * A request between its first and its last dispatch.
	 *
	 * @param begun the request in the store
	 * @param response its answer
	 * @param ended whether the store knows how it ended
	 */
	private record State(Begun begun, KeptResponse response, AtomicBoolean ended) {

	}

	/**
	 * Collects the answer.
	 */
	private static final class KeptResponse extends ContentCachingResponseWrapper {

		private boolean error;

		KeptResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public void sendError(int status) throws IOException {
			this.error = true;
			super.sendError(status);
		}

		@Override
		public void sendError(int status, String message) throws IOException {
			this.error = true;
			super.sendError(status, message);
		}

		boolean isError() {
			return this.error;
		}

		Map<String, List<String>> headers() {
			Map<String, List<String>> headers = new TreeMap<>();
			getHeaderNames().forEach((name) -> headers.put(name, List.copyOf(getHeaders(name))));
			if (getContentType() != null) {
				headers.put("Content-Type", List.of(getContentType()));
			}
			return headers;
		}

	}

	/**
	 * Frees the key of a request that ends without a last dispatch.
	 *
	 * @param state the request
	 * @param requests the other requests
	 */
	private record Abandoning(State state, IdempotentRequests requests) implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) {
			if (this.state.ended().compareAndSet(false, true)) {
				this.requests.abandon(this.state.begun());
			}
		}

		@Override
		public void onTimeout(AsyncEvent event) {
		}

		@Override
		public void onError(AsyncEvent event) {
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
		}

	}

}
