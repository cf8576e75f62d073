package io.mutex.lab;

import java.time.Duration;
import java.util.List;

import io.mutex.testing.ClockShim;
import io.mutex.testing.JavaProcess;

/**
 * What can happen to clocks.
 */
final class ClockFaults {

	private static final Duration VISIBLE = Duration.ofMinutes(1);

	private ClockFaults() {
	}

	static void moveWorker(Field field) {
		for (int hours : new int[] { 1, -1, 0 }) {
			field.fault("C1", field.name(0), () -> field.clocks.worker().move(Duration.ofHours(hours)), 1500, () -> {
			});
		}
	}

	static void suspend(Field field) {
		if (field.holder(List.of(field.name(0)), Provider.LEASE.dividedBy(2)).isEmpty()) {
			return;
		}
		field.fault("C5", field.name(0), () -> field.clocks.worker().move(Duration.ofHours(1)), 1000,
				() -> field.clocks.worker().move(Duration.ZERO));
	}

	// by itself the clock goes wrong from the beginning on
	static void cutOffDrifting(Field field) {
		JavaProcess worker = field.workers.get(0);
		worker.sendLine("time");
		long time = Long.parseLong(worker.awaitLine("TIME ", Duration.ofMinutes(1)).substring("TIME ".length()));
		long off = System.nanoTime() - time;
		boolean known = Math.abs(System.nanoTime() - field.clocks.worker().trueNanos(time)) < off / 2;
		field.hit((off > 0 && known) ? 1 : 0);
		if (field.holder(List.of(field.name(0)), Provider.LEASE).isEmpty()) {
			return;
		}
		field.fault(field.scenario.name(), field.name(0), field.proxies.get(0)::hold, 2 * Provider.LEASE.toMillis(),
				field.proxies.get(0)::pass);
	}

	static void moveServer(Field field) {
		String name = (field.provider == Provider.REDIS) ? "C3" : "C4";
		ClockShim clock = field.clocks.server();
		Duration offset = field.random.nextBoolean() ? Duration.ofMinutes(2) : Duration.ofHours(-1);
		field.fault(name, () -> clock.move(offset), 1500, () -> {
			field.hit((Admin.offset(field).abs().compareTo(VISIBLE) > 0) ? 1 : 0);
			clock.move(Duration.ZERO);
		});
	}

}
