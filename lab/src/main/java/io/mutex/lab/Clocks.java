package io.mutex.lab;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.mutex.testing.ClockShim;
import io.mutex.testing.JavaProcess;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of a run that can be moved, or that run too slowly.
 */
final class Clocks implements AutoCloseable {

	private static final Set<Scenario> OF_WORKER = EnumSet.of(Scenario.C1, Scenario.C5, Scenario.C7, Scenario.C7_FAR,
			Scenario.SOAK);

	private static final Set<Scenario> OF_SERVER = EnumSet.of(Scenario.C3, Scenario.C4, Scenario.SOAK);

	// by how many parts in a million the clocks of a worker gain
	private static final Map<Scenario, Integer> DRIFT = Map.of(Scenario.C7, -10_000, Scenario.C7_FAR, -250_000);

	private final @Nullable ClockShim worker;

	private final @Nullable ClockShim server;

	private final Set<String> processes = ConcurrentHashMap.newKeySet();

	Clocks(Scenario scenario) {
		this.worker = OF_WORKER.contains(scenario) ? ClockShim.compile() : null;
		this.server = OF_SERVER.contains(scenario) ? ClockShim.compile() : null;
		if (this.worker != null) {
			this.worker.drift(DRIFT.getOrDefault(scenario, 0));
		}
	}

	ClockShim worker() {
		return Field.present(this.worker);
	}

	ClockShim server() {
		return Field.present(this.server);
	}

	@Nullable ClockShim serverIfAny() {
		return this.server;
	}

	/**
	 * Gives a worker the clock, if there is one.
	 * @param builder the worker
	 * @param process its name
	 */
	void give(JavaProcess.Builder builder, String process) {
		if (this.worker != null) {
			this.worker.environment().forEach(builder::environment);
			this.processes.add(process);
		}
	}

	/**
	 * Whether the clock of a worker can be moved.
	 * @param process the name of the worker
	 * @return whether it has that clock
	 */
	boolean has(String process) {
		return this.processes.contains(process);
	}

	/**
	 * Corrects what a worker whose clock is slow has written down; what happens to it is
	 * written down by others.
	 * @param event the event
	 * @return the event, at the time of the host
	 */
	Event onTrueTime(Event event) {
		return switch (event.kind()) {
			case FAULT, HEALED, KILLED -> event;
			default -> has(event.process()) ? event.at(worker().trueNanos(event.at())) : event;
		};
	}

	@Override
	public void close() {
		for (ClockShim clock : new ClockShim[] { this.worker, this.server }) {
			if (clock != null) {
				clock.close();
			}
		}
	}

}
