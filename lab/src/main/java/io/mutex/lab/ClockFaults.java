package io.mutex.lab;

import java.time.Duration;

import io.mutex.testing.ClockShim;

/**
 * What can happen to clocks.
 */
final class ClockFaults {

	private static final Duration VISIBLE = Duration.ofMinutes(1);

	private ClockFaults() {
	}

	static void moveWorker(Field field) {
		for (int hours : new int[] { 1, -1, 0 }) {
			field.fault("C1", field.name(0), () -> field.workerClock().move(Duration.ofHours(hours)), 1500, () -> {
			});
		}
	}

	static void suspend(Field field) {
		field.fault("C5", field.name(0), () -> field.workerClock().move(Duration.ofHours(1)), 1000,
				() -> field.workerClock().move(Duration.ZERO));
	}

	static void moveServer(Field field) {
		String name = (field.provider == Provider.REDIS) ? "C3" : "C4";
		ClockShim clock = field.serverClock();
		Duration offset = field.random.nextBoolean() ? Duration.ofMinutes(2) : Duration.ofHours(-1);
		field.fault(name, () -> clock.move(offset), 1500, () -> {
			field.hit((Admin.offset(field).abs().compareTo(VISIBLE) > 0) ? 1 : 0);
			clock.move(Duration.ZERO);
		});
	}

}
