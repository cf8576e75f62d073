package io.mutex.metrics;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.mutex.interceptor.DeclaredRun;
import io.mutex.status.ClockOffset;
import io.mutex.status.LastSuccesses;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;
import io.mutex.status.Success;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of each declared single run: the age of its last success and by how much it is
 * overdue, in seconds, {@code NaN} while this instance does not know. Reading them asks
 * no store.
 */
public final class SingleRunMeters implements MeterBinder {

	private final Supplier<List<DeclaredRun>> runs;

	private final LastSuccesses successes;

	private final OverdueRuns overdue;

	private final LongHolds longHolds;

	private final ClockOffset offset;

	private final InstantSource clock;

	/**
	 * Creates the meters.
	 * @param runs gives the declared jobs
	 * @param successes the successes that this instance has heard of
	 * @param overdue what is overdue
	 * @param longHolds what is held for long
	 * @param offset the clock of this instance against the store's
	 * @param clock the clock of this instance
	 */
	public SingleRunMeters(Supplier<List<DeclaredRun>> runs, LastSuccesses successes, OverdueRuns overdue,
			LongHolds longHolds, ClockOffset offset, InstantSource clock) {
		this.runs = runs;
		this.successes = successes;
		this.overdue = overdue;
		this.longHolds = longHolds;
		this.offset = offset;
		this.clock = clock;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("mutex.clock.offset", () -> seconds(this.offset.get()))
			.description("How far the clock of this instance was ahead of the store's at the last grant")
			.baseUnit("seconds")
			.register(registry);
		for (DeclaredRun run : this.runs.get()) {
			bind(run, registry);
		}
	}

	private void bind(DeclaredRun run, MeterRegistry registry) {
		Gauge.builder("mutex.singlerun.last.success.age", () -> seconds(age(run)))
			.description("The time since the end of the last success that this instance has heard of")
			.tag("name", run.name())
			.baseUnit("seconds")
			.register(registry);
		Gauge.builder("mutex.singlerun.overdue", () -> seconds(this.overdue.known(run)))
			.description("The time since a unit was due that nobody has run, 0 if there is none")
			.tag("name", run.name())
			.baseUnit("seconds")
			.register(registry);
		FunctionCounter.builder("mutex.singlerun.long.holds", this.longHolds, (holds) -> holds.count(run.name()))
			.description("Runs that held their key longer than one interval of their schedule")
			.tag("name", run.name())
			.register(registry);
	}

	private @Nullable Duration age(DeclaredRun run) {
		Success success = this.successes.of(run.name());
		return (success != null) ? Duration.between(success.ended(), this.clock.instant()) : null;
	}

	private static @Nullable Double seconds(@Nullable Duration duration) {
		return (duration != null) ? duration.toNanos() / 1e9 : null;
	}

}
