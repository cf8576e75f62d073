package io.mutex.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.mutex.lab.Result.Verdict;
import org.opentest4j.TestAbortedException;

/**
 * How long a run takes and what its faults are drawn from.
 *
 * @param seconds how long faults are made to happen
 * @param seed what the choices of the nemesis and of the workers are drawn from
 */
public record Play(double seconds, long seed) {

	/**
	 * Plays one scenario and judges it.
	 * @param scenario the fault
	 * @param provider where the locks are
	 * @param subject what is put into the field
	 * @return the result
	 * @throws IOException if the files of the run cannot be written or read
	 */
	public Result of(Scenario scenario, Provider provider, Subject subject) throws IOException {
		return of(scenario, provider, subject, (history) -> {
		});
	}

	Result of(Scenario scenario, Provider provider, Subject subject, Consumer<History> reader) throws IOException {
		Path directory = Files.createTempDirectory("mutex-lab-" + scenario + "-" + provider.text() + "-");
		try (Field field = new Field(scenario, provider, subject, this.seed, directory)) {
			field.start();
			field.sleep(1000);
			long begin = System.nanoTime();
			while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(1) * this.seconds) {
				scenario.play(field);
				field.sleep(500 + field.random.nextInt(1500));
			}
			History history = field.finish();
			reader.accept(history);
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
			return Result.without(scenario, provider, Verdict.INVALID, ex.toString());
		}
	}

}
