package io.mutex.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How long single calls of several candidates take, measured in turns: each repetition
 * gives every candidate a median of its own, and a ratio is one of medians of the same
 * repetition.
 */
final class Timings {

	private final Map<String, double[]> medians = new LinkedHashMap<>();

	private final int repetitions;

	private Timings(int repetitions) {
		this.repetitions = repetitions;
	}

	static Timings play(Scale scale, Map<String, Work> candidates) throws Exception {
		Timings timings = new Timings(scale.repetitions());
		for (String name : candidates.keySet()) {
			timings.medians.put(name, new double[scale.repetitions()]);
		}
		// also lets the JVM compile and the servers prepare what is called
		play(candidates, scale.rounds(), scale.calls(), 0);
		for (int repetition = 0; repetition < scale.repetitions(); repetition++) {
			Map<String, long[]> nanos = play(candidates, scale.rounds(), scale.calls(), repetition);
			for (Map.Entry<String, long[]> entry : nanos.entrySet()) {
				long[] sorted = entry.getValue();
				Arrays.sort(sorted);
				timings.of(entry.getKey())[repetition] = sorted[sorted.length / 2];
			}
		}
		return timings;
	}

	private static Map<String, long[]> play(Map<String, Work> candidates, int rounds, int calls, int offset)
			throws Exception {
		List<String> names = new ArrayList<>(candidates.keySet());
		Map<String, long[]> nanos = new LinkedHashMap<>();
		for (String name : names) {
			nanos.put(name, new long[rounds * calls]);
		}
		for (int round = 0; round < rounds; round++) {
			for (int turn = 0; turn < names.size(); turn++) {
				String name = names.get((turn + round + offset) % names.size());
				Work work = candidates.getOrDefault(name, Runnable::run);
				long[] times = nanos.getOrDefault(name, new long[0]);
				for (int call = 0; call < calls; call++) {
					long begin = System.nanoTime();
					work.run(Timings::nothing);
					times[round * calls + call] = System.nanoTime() - begin;
				}
			}
		}
		return nanos;
	}

	private static void nothing() {
	}

	private double[] of(String name) {
		double[] medians = this.medians.get(name);
		if (medians == null) {
			throw new IllegalArgumentException("no candidate '" + name + "' among " + this.medians.keySet());
		}
		return medians;
	}

	/**
	 * How much longer one takes than the other.
	 * @param name the one
	 * @param other the other
	 * @return the ratio of their medians, over the repetitions
	 */
	Spread ratio(String name, String other) {
		double[] ratios = new double[this.repetitions];
		for (int repetition = 0; repetition < this.repetitions; repetition++) {
			ratios[repetition] = of(name)[repetition] / of(other)[repetition];
		}
		return Spread.of(ratios);
	}

	Spread micros(String name) {
		return Spread.of(Arrays.stream(of(name)).map((nanos) -> nanos / 1000));
	}

	List<String> names() {
		return List.copyOf(this.medians.keySet());
	}

}
