package io.mutex.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.mutex.Leases;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Refuses servlet requests with a stale fencing token with 409, as {@link FencedRequests}
 * decides.
 * <p>
 * While the request is processed, {@link io.mutex.Leases} has a lease with its token on
 * the thread of the request. So the JDBC guard checks the token again in each transaction
 * of that thread, before its commit, and what it refuses is answered with 409, too. Work
 * that a controller hands to other threads is not checked.
 */
public final class FencingFilter extends OncePerRequestFilter {

	private final FencedRequests requests;

	private final RequestPaths paths;

	/**
	 * Creates a filter.
	 * @param requests decides
	 * @param paths the requests to look at
	 */
	public FencingFilter(FencedRequests requests, RequestPaths paths) {
		this.requests = requests;
		this.paths = paths;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return !this.paths.contain(ServletRequestPathUtils.parse(request).pathWithinApplication());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		List<RemoteLease> leases;
		try {
			leases = this.requests.admit(request.getMethod(), Collections.list(request.getHeaders(FencingHeader.NAME)));
		}
		catch (RequestRefusedException ex) {
			answer(response, ex.problem());
			return;
		}
		try {
			runUnder(leases, request, response, chain);
		}
		catch (ServletException | IOException | RuntimeException ex) {
			Problem refusal = response.isCommitted() ? null : this.requests.refusalOf(leases, ex);
			if (refusal == null) {
				throw ex;
			}
			response.reset();
			answer(response, refusal);
		}
		finally {
			leases.forEach(RemoteLease::end);
		}
	}

	private static void runUnder(List<RemoteLease> leases, HttpServletRequest request, HttpServletResponse response,
			FilterChain chain) throws ServletException, IOException {
		List<Leases.Scope> scopes = new ArrayList<>();
		try {
			// the first becomes the innermost
			for (int i = leases.size() - 1; i >= 0; i--) {
				scopes.add(0, Leases.bind(leases.get(i)));
			}
			chain.doFilter(request, response);
		}
		finally {
			scopes.forEach(Leases.Scope::close);
		}
	}

	static void answer(HttpServletResponse response, Problem problem) throws IOException {
		byte[] body = problem.json();
		response.setStatus(problem.status());
		response.setContentType(Problem.MEDIA_TYPE);
		if (problem.retry()) {
			response.setHeader("Retry-After", "1");
		}
		response.setContentLength(body.length);
		response.getOutputStream().write(body);
	}

}
