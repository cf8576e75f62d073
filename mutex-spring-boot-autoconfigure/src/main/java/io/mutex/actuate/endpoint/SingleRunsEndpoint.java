package io.mutex.actuate.endpoint;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.mutex.HeldLock;
import io.mutex.LockProvider;
import io.mutex.MutexException;
import io.mutex.Reopening;
import io.mutex.actuate.endpoint.JobDescriptor.RunDescriptor;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.run.RunRecord;
import io.mutex.status.LastSuccesses;
import io.mutex.status.OverdueRuns;
import io.mutex.status.RunLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * Shows the single runs of the application and how each is doing; runs one by hand and
 * reopens a unit when the access to it is opened.
 */
@WebEndpoint(id = "singleruns", defaultAccess = Access.READ_ONLY)
public class SingleRunsEndpoint {

	/** How many jobs one answer shows at most. */
	static final int LIMIT = 200;

	private static final Logger logger = LoggerFactory.getLogger(SingleRunsEndpoint.class);

	private final Supplier<LockProvider> provider;

	private final Supplier<String> namespace;

	private final String instance;

	private final Supplier<List<DeclaredRun>> runs;

	private final RunLog log;

	private final LastSuccesses successes;

	private final OverdueRuns overdue;

	private final RunsByHand byHand;

	/**
	 * Creates the endpoint.
	 * @param provider gives the store
	 * @param namespace gives the namespace of the locks
	 * @param instance the name of this instance
	 * @param runs gives the declared jobs
	 * @param log how the calls on this instance ended
	 * @param successes the successes that this instance has heard of
	 * @param overdue what is overdue
	 * @param byHand runs jobs by hand
	 */
	public SingleRunsEndpoint(Supplier<LockProvider> provider, Supplier<String> namespace, String instance,
			Supplier<List<DeclaredRun>> runs, RunLog log, LastSuccesses successes, OverdueRuns overdue,
			RunsByHand byHand) {
		this.provider = provider;
		this.namespace = namespace;
		this.instance = instance;
		this.runs = runs;
		this.log = log;
		this.successes = successes;
		this.overdue = overdue;
		this.byHand = byHand;
	}

	/**
	 * The declared jobs, at most 200 of them.
	 * @return the jobs
	 */
	@ReadOperation
	public SingleRunsDescriptor singleRuns() {
		List<DeclaredRun> declared = this.runs.get();
		JobDescriber describer = describer();
		List<JobDescriptor> jobs = new ArrayList<>();
		MutexException failure = null;
		for (DeclaredRun run : declared.subList(0, Math.min(LIMIT, declared.size()))) {
			try {
				jobs.add((failure != null) ? describer.unknown(run, run.name(), failure) : describe(run, describer));
			}
			catch (MutexException ex) {
				// each further question may take as long
				failure = ex;
				jobs.add(describer.unknown(run, run.name(), ex));
			}
		}
		return new SingleRunsDescriptor(this.provider.get().name(), this.namespace.get(), this.instance,
				declared.size(), jobs);
	}

	private static JobDescriptor describe(DeclaredRun run, JobDescriber describer) {
		return run.constant() ? describer.key(run, run.name()) : describer.template(run);
	}

	/**
	 * What is known of a key, or of a declared key template.
	 * @param key the segments of the key, which may hold slashes
	 * @return the job, or {@code null} if nothing is known of the key
	 */
	@ReadOperation
	public @Nullable JobDescriptor singleRun(@Selector(match = Match.ALL_REMAINING) String... key) {
		String joined = String.join("/", key);
		DeclaredRun declared = declared(joined);
		JobDescriber describer = describer();
		if (declared != null && !declared.constant() && declared.name().equals(joined)) {
			return describer.template(declared);
		}
		try {
			JobDescriptor job = describer.key(declared, joined);
			boolean known = declared != null || !job.runs().isEmpty() || !job.here().isEmpty()
					|| this.provider.get().lock(joined).isPresent();
			return known ? job : null;
		}
		catch (MutexException ex) {
			return describer.unknown(declared, joined, ex);
		}
	}

	/**
	 * Runs a job now, under the same rules as any other call.
	 * @param caller who asks
	 * @param key the segments of the key, which may hold slashes
	 * @return 200 with the outcome, 202 if the job still runs, 404 if nobody declares the
	 * key, 409 if it cannot be run by hand, 503 if too many run already
	 */
	@WriteOperation
	public WebEndpointResponse<RunsByHand.Answer> run(SecurityContext caller,
			@Selector(match = Match.ALL_REMAINING) String... key) {
		String joined = String.join("/", key);
		DeclaredRun declared = declared(joined);
		List<DeclaredRun> found = this.runs.get()
			.stream()
			.filter((run) -> declared != null && run.name().equals(declared.name()))
			.toList();
		return this.byHand.run(found, joined, caller);
	}

	/**
	 * Forgets how a unit ended, so that it can run again as if it never had. A run that
	 * has lost its lease can record nothing afterwards.
	 * @param caller who asks
	 * @param unit the unit, as the runs of the key name it
	 * @param key the segments of the key, which may hold slashes
	 * @return 200 with what was forgotten, 404 if nothing is known of the unit, 409 if a
	 * run holds the key
	 */
	@DeleteOperation
	public WebEndpointResponse<ReopeningDescriptor> reopen(SecurityContext caller, String unit,
			@Selector(match = Match.ALL_REMAINING) String... key) {
		String joined = String.join("/", key);
		DeclaredRun declared = declared(joined);
		Reopening reopening = this.provider.get().reopen(joined, unit);
		RunRecord removed = reopening.removed();
		HeldLock holder = reopening.holder();
		return switch (reopening.result()) {
			case REOPENED -> {
				logger.warn("Unit reopened through the endpoint: key={} unit={} by={} was {} of {}", joined, unit,
						RunsByHand.nameOf(caller), (removed != null) ? removed.status() : null,
						(removed != null) ? removed.owner().instance() : null);
				this.successes.forget((declared != null) ? declared.name() : joined);
				yield new WebEndpointResponse<>(new ReopeningDescriptor(joined, unit, "reopened",
						(removed != null) ? RunDescriptor.of(removed) : null));
			}
			case NOTHING ->
				new WebEndpointResponse<>(new ReopeningDescriptor(joined, unit, "nothing is known of this unit", null),
						WebEndpointResponse.STATUS_NOT_FOUND);
			case HELD -> new WebEndpointResponse<>(
					new ReopeningDescriptor(joined, unit, "refused: "
							+ ((holder != null) ? holder.owner().instance() : "another run") + " holds the key", null),
					409);
		};
	}

	private @Nullable DeclaredRun declared(String key) {
		String name = this.log.nameOf(key);
		List<DeclaredRun> declared = this.runs.get();
		return declared.stream()
			.filter((run) -> run.name().equals(key))
			.findFirst()
			.or(() -> declared.stream().filter((run) -> run.name().equals(name)).findFirst())
			.orElse(null);
	}

	private JobDescriber describer() {
		return new JobDescriber(this.provider.get(), this.log, this.successes, this.overdue, this.instance,
				InstantSource.system());
	}

	/**
	 * What became of a reopening.
	 *
	 * @param key the key
	 * @param unit the unit
	 * @param result what was done
	 * @param removed what was forgotten, or {@code null}
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record ReopeningDescriptor(String key, String unit, String result, @Nullable RunDescriptor removed) {

	}

	/**
	 * The single runs of an application.
	 *
	 * @param provider the name of the store
	 * @param namespace the namespace
	 * @param instance the name of the instance that answers
	 * @param declared how many jobs are declared
	 * @param jobs the jobs, ordered by name
	 */
	public record SingleRunsDescriptor(String provider, String namespace, String instance, int declared,
			List<JobDescriptor> jobs) {

	}

}
