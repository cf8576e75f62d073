package io.mutex.actuate.endpoint;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.mutex.MutexException;
import io.mutex.MutexListener;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Runs jobs when somebody asks for it, on threads of its own, so that a long job does not
 * keep a thread of the web server.
 */
public final class RunsByHand implements MutexListener, AutoCloseable {

	/** How many jobs are run by hand at once. */
	static final int THREADS = 4;

	private static final int CONFLICT = 409;

	private static final int ACCEPTED = 202;

	private static final int UNAVAILABLE = 503;

	private static final Logger logger = LoggerFactory.getLogger(RunsByHand.class);

	private static final ThreadLocal<Awaited> awaited = new ThreadLocal<>();

	private final Method method;

	private final Duration patience;

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(0, THREADS, 10, TimeUnit.SECONDS,
			new SynchronousQueue<>(), (task) -> {
				Thread thread = new Thread(task, "mutex-by-hand");
				thread.setDaemon(true);
				return thread;
			});

	/**
	 * Creates the runner.
	 * @param method calls the method of a declared job through the proxy of its bean
	 * @param patience how long a caller waits for the end of a job
	 */
	public RunsByHand(Method method, Duration patience) {
		this.method = method;
		this.patience = patience;
	}

	@Override
	public void run(Run run) {
		Awaited own = awaited.get();
		// a job may call others, which end before it
		if (own != null && own.key().equals(run.key())) {
			own.end().complete(run);
		}
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

	WebEndpointResponse<Answer> run(List<DeclaredRun> found, String key, SecurityContext caller) {
		if (found.isEmpty()) {
			return answer(WebEndpointResponse.STATUS_NOT_FOUND, key, null, "no single run is declared with this key");
		}
		String refusal = refusal(found);
		if (refusal != null) {
			return answer(CONFLICT, key, null, refusal);
		}
		DeclaredRun run = found.get(0);
		logger.warn("Single run called by hand through the endpoint: key={} method={} by={}", key, run.method(),
				nameOf(caller));
		CompletableFuture<Answer> end;
		try {
			end = CompletableFuture.supplyAsync(() -> call(run), this.threads);
		}
		catch (RejectedExecutionException ex) {
			return answer(UNAVAILABLE, key, null, THREADS + " jobs are being run by hand on this instance already");
		}
		return await(end, key);
	}

	private WebEndpointResponse<Answer> await(CompletableFuture<Answer> end, String key) {
		try {
			Answer answer = end.get(this.patience.toMillis(), TimeUnit.MILLISECONDS);
			return new WebEndpointResponse<>(answer,
					(answer.outcome() != null) ? WebEndpointResponse.STATUS_OK : CONFLICT);
		}
		catch (TimeoutException ex) {
			return answer(ACCEPTED, key, null, "still running after " + PlainText.duration(this.patience)
					+ "; GET this address to see how it ends");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return answer(ACCEPTED, key, null, "still running");
		}
		catch (ExecutionException ex) {
			throw new MutexException(key, "the job could not be called", ex.getCause());
		}
	}

	private static @Nullable String refusal(List<DeclaredRun> found) {
		DeclaredRun run = found.get(0);
		if (found.size() > 1) {
			return found.size() + " methods have this key";
		}
		if (run.parameters()) {
			return run.method() + " has parameters, which nobody can name here: call it from the application";
		}
		return run.constant() ? null : "the key of " + run.method() + " is evaluated for each call";
	}

	private Answer call(DeclaredRun run) {
		CompletableFuture<Run> reported = new CompletableFuture<>();
		awaited.set(new Awaited(run.name(), reported));
		Throwable failure = null;
		try {
			Object returned = this.method.call(run);
			if (returned instanceof CompletionStage<?> stage) {
				stage.toCompletableFuture().join();
			}
		}
		catch (CompletionException ex) {
			failure = (ex.getCause() != null) ? ex.getCause() : ex;
		}
		catch (Throwable ex) {
			failure = ex;
		}
		finally {
			awaited.remove();
		}
		return describe(run, reported.getNow(null), failure);
	}

	private static Answer describe(DeclaredRun run, @Nullable Run end, @Nullable Throwable failure) {
		if (end != null) {
			Throwable cause = (failure != null) ? failure : end.failure();
			return new Answer(run.name(), end.unit(), end.outcome(), end.reason(), end.took().toString(),
					(cause != null) ? cause.toString() : null);
		}
		if (failure instanceof MutexException) {
			return new Answer(run.name(), null, null, "not run: " + failure.getMessage(), null, null);
		}
		Outcome outcome = (failure != null) ? Outcome.FAILED : Outcome.EXECUTED;
		return new Answer(run.name(), null, outcome, "run: see the log of this instance", null,
				(failure != null) ? failure.toString() : null);
	}

	private static WebEndpointResponse<Answer> answer(int status, String key, @Nullable Outcome outcome,
			String reason) {
		return new WebEndpointResponse<>(new Answer(key, null, outcome, reason, null, null), status);
	}

	static String nameOf(SecurityContext caller) {
		Principal principal = caller.getPrincipal();
		return (principal != null) ? principal.getName() : "anonymous";
	}

	/**
	 * Calls the method of a declared job.
	 */
	@FunctionalInterface
	public interface Method {

		/**
		 * Calls the method.
		 * @param run the job
		 * @return what the method returns
		 * @throws Throwable what the method throws
		 */
		@Nullable Object call(DeclaredRun run) throws Throwable;

	}

	/**
	 * What became of a call by hand.
	 *
	 * @param key the key
	 * @param unit the unit, or {@code null}
	 * @param outcome how the call ended, or {@code null} if it has not, or could not be
	 * made
	 * @param reason one sentence for people
	 * @param took how long the method ran, as an ISO-8601 duration, or {@code null}
	 * @param error what it threw, or {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Answer(String key, @Nullable String unit, @Nullable Outcome outcome, String reason,
			@Nullable String took, @Nullable String error) {

	}

	private record Awaited(String key, CompletableFuture<Run> end) {
	}

}
