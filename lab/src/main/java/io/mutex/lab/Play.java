package io.mutex.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.mutex.lab.Result.Verdict;
import org.opentest4j.TestAbortedException;

/**
 * How long a run takes and what its faults are drawn from.
 *
 * @param seconds how long faults are made to happen, and longer until one has taken
 * effect
 * @param seed what the choices of the nemesis and of the workers are drawn from
 */
public record Play(double seconds, long seed) {

	/** How many times longer a run may take until its fault has taken effect. */
	private static final int MORE = 4;

	/**
	 * How long the workers go on after a fault that lifts something, so that it is in
	 * force again.
	 */
	private static final long IN_FORCE_MILLIS = 6000;

	/**
	 * Plays several runs at a time.
	 * @param <T> what comes out of a run
	 * @param runs the runs
	 * @param parallel how many at a time
	 * @param done takes what came out, in the order of the runs
	 */
	public static <T> void each(List<Supplier<T>> runs, int parallel, Consumer<T> done) {
		ExecutorService executor = Executors.newFixedThreadPool(parallel);
		try {
			runs.stream()
				.map((run) -> CompletableFuture.supplyAsync(run, executor))
				.toList()
				.forEach((run) -> done.accept(run.join()));
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * Plays one scenario and judges it.
	 * @param scenario the fault
	 * @param provider where the locks are
	 * @param subject what is put into the field
	 * @return the result
	 */
	public Result of(Scenario scenario, Provider provider, Subject subject) {
		try {
			Path directory = Files.createTempDirectory("mutex-lab-" + scenario + "-" + provider.text() + "-");
			return result(scenario, provider, subject, directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Result result(Scenario scenario, Provider provider, Subject subject, Path directory) throws IOException {
		try (Field field = new Field(scenario, provider, subject, this.seed, directory)) {
			field.start();
			field.sleep(1000);
			long begin = System.nanoTime();
			double passed = 0;
			double rested = 0;
			while (passed < this.seconds || (passed - rested < MORE * this.seconds
					&& scenario.effects(field, field.history(List.of())) == 0)) {
				scenario.play(field);
				long rest = scenario.lifted().isEmpty() ? 0 : scenario.aftermath(provider).toMillis() + IN_FORCE_MILLIS;
				field.sleep((rest > 0) ? rest : 500 + field.random.nextInt(1500));
				rested += rest / 1e3;
				passed = (System.nanoTime() - begin) / 1e9;
			}
			History history = field.finish();
			Result result = Result.of(scenario, provider, history, scenario.effects(field, history));
			if (result.verdict() == Verdict.VIOLATED || result.verdict() == Verdict.INVALID) {
				System.out.println("history: " + directory);
			}
			if (!result.violations().isEmpty()) {
				System.out.println("timeline: " + Timeline.write(directory, history, result.violations().get(0)));
			}
			return result;
		}
		catch (TestAbortedException ex) {
			return Result.without(scenario, provider, Verdict.SKIPPED, String.valueOf(ex.getMessage()));
		}
		catch (RuntimeException | AssertionError ex) {
			// the other runs are to be seen
			System.out.println("history: " + directory);
			return Result.without(scenario, provider, broken(scenario, provider, directory, ex), ex.toString());
		}
	}

	// what was written down until then is judged all the same, but for the data, which
	// was
	// not read
	private static Verdict broken(Scenario scenario, Provider provider, Path directory, Throwable failure)
			throws IOException {
		History history = History.read(directory, List.of());
		boolean violated = Checker.check(history, scenario.allowance(provider, history))
			.stream()
			.anyMatch((violation) -> !violation.invariant().equals("I3"));
		return (violated || failure instanceof Effects.BoundException) ? Verdict.VIOLATED : Verdict.INVALID;
	}

}
