package io.mutex.health;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.mutex.Lease;
import io.mutex.LockProvider;
import io.mutex.status.ClockOffset;
import io.mutex.status.LongHolds;
import io.mutex.status.OverdueRuns;
import io.mutex.status.OverdueRuns.Overdue;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Says whether the store of the locks can be reached, how fast, and what weakens it,
 * which jobs are overdue, and which hold their key for too long. Changes no lock.
 */
public final class MutexHealthIndicator extends AbstractHealthIndicator {

	private final BooleanSupplier used;

	private final Supplier<LockProvider> provider;

	private final Supplier<String> namespace;

	private final OverdueRuns overdue;

	private final LongHolds longHolds;

	private final ClockOffset offset;

	private final boolean overdueDown;

	/**
	 * Creates the indicator.
	 * @param used whether the application uses locks at all
	 * @param provider gives the store when health is asked for
	 * @param namespace gives the namespace of the locks
	 * @param overdue what is overdue
	 * @param longHolds what is held for long
	 * @param offset the clock of this instance against the store's
	 * @param overdueDown whether an overdue job means that this instance is down
	 */
	public MutexHealthIndicator(BooleanSupplier used, Supplier<LockProvider> provider, Supplier<String> namespace,
			OverdueRuns overdue, LongHolds longHolds, ClockOffset offset, boolean overdueDown) {
		super("The store of the locks is not fit for use");
		this.used = used;
		this.provider = provider;
		this.namespace = namespace;
		this.overdue = overdue;
		this.longHolds = longHolds;
		this.offset = offset;
		this.overdueDown = overdueDown;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		if (!this.used.getAsBoolean()) {
			builder.unknown().withDetail("reason", "no annotated method, and MutexTemplate is not used");
			return;
		}
		LockProvider store = this.provider.get();
		builder.withDetail("provider", store.name()).withDetail("namespace", this.namespace.get());
		long start = System.nanoTime();
		store.check();
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		builder.up().withDetail("roundTripMillis", took.toNanos() / 1_000_000.0);
		Duration ahead = this.offset.get();
		if (ahead != null) {
			builder.withDetail("clockOffsetMillis", ahead.toNanos() / 1_000_000.0);
		}
		List<String> findings = store.findings();
		if (!findings.isEmpty()) {
			builder.withDetail("findings", findings);
		}
		addJobs(builder);
	}

	private void addJobs(Health.Builder builder) {
		List<Overdue> late = this.overdue.find();
		if (!late.isEmpty()) {
			Map<String, String> details = new TreeMap<>();
			late.forEach((job) -> details.put(job.run().name(), "due " + job.due() + ", overdue by " + job.by()));
			builder.withDetail("overdue", details);
			if (this.overdueDown) {
				builder.down();
			}
		}
		List<Lease> held = this.longHolds.current();
		if (!held.isEmpty()) {
			Map<String, String> details = new TreeMap<>();
			held.forEach((lease) -> details.put(lease.name(), "held for " + lease.heldFor()));
			builder.withDetail("heldForLong", details);
		}
	}

}
