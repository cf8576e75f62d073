package io.mutex.file;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

import org.jspecify.annotations.Nullable;

/**
 * Input and output that an interrupt of the thread does not break: a channel is closed by
 * an interrupt, and a closed channel frees a file lock.
 */
final class Uninterrupted {

	private static final int ATTEMPTS = 1000;

	private Uninterrupted() {
	}

	/**
	 * Performs a step with the interrupt flag cleared, repeats it if an interrupt closed
	 * its channel, and sets the flag again afterwards.
	 * @param <T> the type of the result
	 * @param step the step, which must be repeatable
	 * @return its result
	 * @throws IOException if the step fails
	 */
	static <T extends @Nullable Object> T call(Step<T> step) throws IOException {
		boolean interrupted = Thread.interrupted();
		try {
			for (int attempt = 1;; attempt++) {
				try {
					return step.perform();
				}
				catch (ClosedByInterruptException ex) {
					interrupted = true;
					Thread.interrupted();
					if (attempt == ATTEMPTS) {
						throw ex;
					}
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	static void run(Action action) throws IOException {
		call(() -> {
			action.perform();
			return Boolean.TRUE;
		});
	}

	/**
	 * A step without a result.
	 */
	@FunctionalInterface
	interface Action {

		void perform() throws IOException;

	}

	/**
	 * A step that reads or writes.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface Step<T extends @Nullable Object> {

		T perform() throws IOException;

	}

}
