package io.mutex.metrics;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.mutex.Lease;
import io.mutex.LeaseCallback;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import org.jspecify.annotations.Nullable;

/**
 * Observes the work that runs under a lease, for tracing: {@code mutex.singlerun} for a
 * single run, {@code mutex.fenced} for other work. Calls that run nothing are not
 * observed. The declared name is the only tag of low cardinality.
 */
public final class ObservedTemplate implements MutexTemplate {

	private final MutexTemplate delegate;

	private final Supplier<ObservationRegistry> registry;

	/**
	 * Creates the template.
	 * @param delegate runs the work
	 * @param registry gives the registry of observations
	 */
	public ObservedTemplate(MutexTemplate delegate, Supplier<ObservationRegistry> registry) {
		this.delegate = delegate;
		this.registry = registry;
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LeaseCallback<T, E> body)
			throws E {
		return this.delegate.execute(request, (lease) -> observe("mutex.fenced", lease, body));
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> RunResult<T> singleRun(LockRequest request,
			LeaseCallback<T, E> body) throws E {
		return this.delegate.singleRun(request, (lease) -> observe("mutex.singlerun", lease, body));
	}

	private <T extends @Nullable Object, E extends Throwable> T observe(String name, Lease lease,
			LeaseCallback<T, E> body) throws E {
		Observation observation = Observation.createNotStarted(name, this.registry.get())
			.contextualName(name + " " + lease.name())
			.lowCardinalityKeyValue("name", lease.name())
			.highCardinalityKeyValue("key", lease.key())
			.highCardinalityKeyValue("token", Long.toString(lease.token().value()))
			.highCardinalityKeyValue("unit", String.valueOf(lease.unit()))
			.start();
		T value;
		try (Observation.Scope scope = observation.openScope()) {
			value = body.run(lease);
		}
		catch (Throwable ex) {
			observation.error(ex);
			observation.stop();
			throw ex;
		}
		if (value instanceof CompletionStage<?> stage) {
			stage.whenComplete((result, failure) -> {
				if (failure != null) {
					observation.error(failure);
				}
				observation.stop();
			});
		}
		else {
			observation.stop();
		}
		return value;
	}

}
