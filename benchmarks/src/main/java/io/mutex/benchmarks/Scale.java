package io.mutex.benchmarks;

import java.util.Locale;

/**
 * How long is measured.
 *
 * @param name what the scale is called
 * @param repetitions how often everything is repeated, each giving one ratio
 * @param rounds how often the candidates alternate in one repetition
 * @param calls how many calls one candidate makes before the next one's turn
 * @param millis how long one candidate has all threads before the next one's turn
 * @param watchSeconds how long an idle instance, and ten thousand leases, are watched
 * @param ticks how many firings of a schedule are watched
 * @param keys how many keys are used once
 */
record Scale(String name, int repetitions, int rounds, int calls, int millis, int watchSeconds, int ticks, int keys) {

	static Scale of(String name) {
		return switch (name.toLowerCase(Locale.ROOT)) {
			case "smoke" -> new Scale("smoke", 2, 3, 10, 200, 12, 4, 1000);
			case "short" -> new Scale("short", 5, 20, 25, 700, 20, 10, 20_000);
			case "full" -> new Scale("full", 15, 40, 50, 2000, 60, 60, 1_000_000);
			default -> throw new IllegalArgumentException("a scale is smoke, short or full, but was '" + name + "'");
		};
	}

}
