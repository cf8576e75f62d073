package io.mutex.metrics;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mutex.Lease;
import io.mutex.LockHazard;
import io.mutex.MutexListener;
import io.mutex.StaleFencingTokenException;
import io.mutex.run.Attempts.Origin;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times what happens to leases and single runs. Tags are declared names,
 * outcomes and the provider, never an evaluated key.
 */
public final class MutexMetrics implements MutexListener {

	private final Supplier<@Nullable MeterRegistry> registry;

	private final Supplier<String> provider;

	private final AtomicInteger active = new AtomicInteger();

	private volatile @Nullable MeterRegistry bound;

	/**
	 * Creates the metrics.
	 * @param registry gives the registry when the first event happens, or {@code null}
	 * for none
	 * @param provider gives the name of the store
	 */
	public MutexMetrics(Supplier<@Nullable MeterRegistry> registry, Supplier<String> provider) {
		this.registry = registry;
		this.provider = provider;
	}

	@Override
	public void acquisition(String key, String name, String outcome, Duration took) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters.timer("mutex.acquire", tags(name).and("outcome", outcome)).record(took);
			if (!took.isZero()) {
				meters.timer("mutex.wait", tags(name)).record(took);
			}
		}
	}

	@Override
	public void granted(Lease lease) {
		this.active.incrementAndGet();
		meters();
	}

	@Override
	public void ended(Lease lease, Duration held) {
		this.active.decrementAndGet();
		MeterRegistry meters = meters();
		if (meters != null) {
			meters.timer("mutex.hold", tags(lease.name())).record(held);
		}
	}

	@Override
	public void lost(Lease lease, String reason) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters.counter("mutex.leases.lost", tags(lease.name())).increment();
		}
	}

	@Override
	public void refused(Lease lease, StaleFencingTokenException refusal) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters.counter("mutex.fencing.rejected", tags(lease.name())).increment();
		}
	}

	@Override
	public void renewed(int renewed, int failed) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters.counter("mutex.renewals", "provider", this.provider.get(), "outcome", "renewed").increment(renewed);
			meters.counter("mutex.renewals", "provider", this.provider.get(), "outcome", "failed").increment(failed);
		}
	}

	@Override
	public void hazard(LockHazard hazard) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters
				.counter("mutex.hazards",
						tags(hazard.name()).and("kind", hazard.kind().name().toLowerCase(Locale.ROOT)))
				.increment();
		}
	}

	@Override
	public void run(Run run) {
		MeterRegistry meters = meters();
		if (meters != null) {
			meters
				.counter("mutex.singlerun.run", "name", run.name(), "outcome",
						run.outcome().name().toLowerCase(Locale.ROOT))
				.increment();
			if (run.isMissed() && run.origin() != Origin.STARTER) {
				meters.counter("mutex.singlerun.missed", "name", run.name()).increment();
			}
		}
	}

	private Tags tags(String name) {
		return Tags.of("name", name, "provider", this.provider.get());
	}

	private @Nullable MeterRegistry meters() {
		MeterRegistry meters = this.bound;
		if (meters == null) {
			meters = this.registry.get();
			if (meters != null) {
				Gauge.builder("mutex.leases.active", this.active, AtomicInteger::get)
					.tag("provider", this.provider.get())
					.register(meters);
				this.bound = meters;
			}
		}
		return meters;
	}

}
