package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A long run under all faults of a provider, also under two at a time. The seed alone
 * decides which faults come in which order; what they meet is the matter of the moment.
 */
final class Soak {

	// what needs a machine of its own, and what is made of others
	private static final Set<Scenario> LEFT_OUT = EnumSet.of(Scenario.P5, Scenario.J3, Scenario.J15, Scenario.C7,
			Scenario.C7_FAR, Scenario.F10, Scenario.SOAK);

	// whose holders write late, which is what the guards are for
	private static final Set<Scenario> OFTEN = EnumSet.of(Scenario.P2, Scenario.F8);

	private static final int ROUNDS_BETWEEN_RESTS = 5;

	private static final long REST_MILLIS = 6000;

	private Soak() {
	}

	/**
	 * Plays one round: a fault, perhaps another one in another place before it is over,
	 * and now and then a rest in which nothing may be lost.
	 * @param field where
	 */
	static void play(Field field) {
		Random random = field.schedule;
		Scenario first = draw(field, Place.ALL);
		boolean two = random.nextBoolean();
		long delay = random.nextInt(1000);
		Scenario second = two ? draw(field, first.place()) : null;
		boolean rest = random.nextInt(ROUNDS_BETWEEN_RESTS) == 0;
		note(field,
				first + ((second != null) ? " " + second + " after " + delay + " ms" : "") + (rest ? ", rest" : ""));
		if (first == Scenario.P1 && second == null) {
			// so that the take-over is a matter of this death alone
			field.sleep(field.provider.aftermath().toMillis());
		}
		CompletableFuture<Void> overlapping = (second != null) ? CompletableFuture.runAsync(() -> {
			field.sleep(delay);
			second.play(field);
		}, (task) -> new Thread(task, "second fault").start()) : CompletableFuture.completedFuture(null);
		first.play(field);
		overlapping.join();
		if (rest) {
			field.sleep(field.provider.aftermath().toMillis() + REST_MILLIS);
		}
	}

	/**
	 * Draws a fault. Half of them meet a worker, or more if there are few others.
	 * @param field where
	 * @param busy the place that has one already
	 * @return the fault
	 */
	private static Scenario draw(Field field, Place busy) {
		List<Scenario> faults = new ArrayList<>();
		List<Scenario> ofWorkers = new ArrayList<>();
		Arrays.stream(Scenario.values())
			.filter((each) -> each.providers().contains(field.provider) && !LEFT_OUT.contains(each))
			.filter((each) -> each.place() != busy)
			.forEach((each) -> {
				List<Scenario> kind = (each.place() == Place.WORKER) ? ofWorkers : faults;
				kind.add(each);
				if (OFTEN.contains(each)) {
					kind.addAll(List.of(each, each));
				}
			});
		int all = faults.size() + ofWorkers.size();
		int workers = ofWorkers.isEmpty() ? 0 : Math.max(all / 2, ofWorkers.size());
		List<Scenario> kind = (field.schedule.nextInt(all) < workers) ? ofWorkers : faults;
		return kind.get(field.schedule.nextInt(kind.size()));
	}

	private static void note(Field field, String round) {
		try {
			Files.writeString(field.directory.resolve("schedule"), round + "\n", StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
