package io.mutex.http;

import java.util.List;

import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.fence.FenceGuard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by its fencing token whether a request may be processed: the token is
 * registered at every guard before, so that requests of earlier holders are refused from
 * then on, however late they arrive.
 * <p>
 * What it cannot do: the decision and the effect of the request are two steps. A request
 * that was let in can be overtaken by a later holder's while it is processed, unless its
 * effect is in a transaction that the JDBC guard checks, or is a write that another guard
 * checks with the lease that is bound to the thread. Whoever may send the header can shut
 * out all others with a high token, so callers have to be authenticated. And all senders
 * that name a resource have to take their leases of it from one store and one namespace:
 * tokens of two cannot be compared.
 */
public final class FencedRequests {

	private static final Logger logger = LoggerFactory.getLogger(FencedRequests.class);

	private final List<FenceGuard> guards;

	private final List<MutexListener> listeners;

	private final boolean required;

	/**
	 * Creates it.
	 * @param guards where tokens are registered, at least one
	 * @param listeners who is told of refusals
	 * @param required whether a request that may change something has to have a token
	 */
	public FencedRequests(List<FenceGuard> guards, List<MutexListener> listeners, boolean required) {
		if (guards.isEmpty()) {
			throw new IllegalArgumentException("there is no guard that could refuse a token");
		}
		this.guards = List.copyOf(guards);
		this.listeners = List.copyOf(listeners);
		this.required = required;
	}

	/**
	 * Lets a request in.
	 * @param method its method
	 * @param lines the lines of its header
	 * @return a lease for each resource that it names
	 * @throws RequestRefusedException if it must not be processed
	 */
	List<RemoteLease> admit(String method, List<String> lines) throws RequestRefusedException {
		if (lines.isEmpty()) {
			if (this.required && !IdempotencyKey.isReading(method)) {
				throw new RequestRefusedException(Problem.of(428, "fencing-token-required",
						"A fencing token is required", "The header " + FencingHeader.NAME + " is missing"));
			}
			return List.of();
		}
		List<RemoteLease> leases = parse(lines).stream()
			.map((header) -> new RemoteLease(header.fence(), this))
			.toList();
		for (RemoteLease lease : leases) {
			register(lease);
		}
		return leases;
	}

	private static List<FencingHeader> parse(List<String> lines) throws RequestRefusedException {
		try {
			return FencingHeader.parse(lines);
		}
		catch (IllegalArgumentException ex) {
			throw new RequestRefusedException(
					Problem.of(400, "malformed-fencing-token", "The fencing token is malformed",
							"The header " + FencingHeader.NAME + " cannot be read: " + ex.getMessage()),
					ex);
		}
	}

	private void register(RemoteLease lease) throws RequestRefusedException {
		for (FenceGuard guard : this.guards) {
			try {
				guard.register(lease.fences().get(0));
			}
			catch (StaleFencingTokenException ex) {
				lease.refused(ex);
				throw new RequestRefusedException(Problem.stale(ex), ex);
			}
			catch (MutexException ex) {
				logger.warn("resource={} token={} guard={} cannot register the token of a request", lease.resource(),
						lease.token(), guard.name(), ex);
				throw new RequestRefusedException(failure(ex), ex);
			}
			catch (RuntimeException ex) {
				logger.warn("resource={} token={} guard={} failed", lease.resource(), lease.token(), guard.name(), ex);
				throw new RequestRefusedException(unreachable(), ex);
			}
		}
	}

	// a guard that did not answer says why; a resource of another key needs no reason
	private static Problem failure(MutexException ex) {
		return (ex.getCause() != null) ? unreachable() : Problem.of(409, "foreign-resource",
				"The resource belongs to another key", "The resource is not one that requests can write to");
	}

	private static Problem unreachable() {
		return Problem.passing(503, "guard-unavailable", "The fencing token cannot be checked",
				"The guard of the resource did not answer; the request was not processed");
	}

	/**
	 * The refusal by a guard that ended the processing of a request.
	 * @param leases the leases of the request
	 * @param failure how the processing ended
	 * @return the problem, or {@code null} if it ended for another reason
	 */
	@Nullable Problem refusalOf(List<RemoteLease> leases, Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof StaleFencingTokenException refusal
					&& leases.stream().anyMatch((lease) -> lease.resource().equals(refusal.getResource()))) {
				return Problem.stale(refusal);
			}
		}
		return null;
	}

	void refused(RemoteLease lease, StaleFencingTokenException refusal) {
		logger.warn("resource={} token={} of a request refused: {} is accepted", refusal.getResource(),
				refusal.getToken(), refusal.getAccepted());
		for (MutexListener listener : this.listeners) {
			try {
				listener.refused(lease, refusal);
			}
			catch (RuntimeException ex) {
				logger.warn("a listener failed", ex);
			}
		}
	}

}
