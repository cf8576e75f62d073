package io.mutex.engine;

import java.util.concurrent.CompletionStage;

/**
 * What can be done with a stage whose work is not wanted any more.
 */
final class Stages {

	private Stages() {
	}

	static void cancel(CompletionStage<?> stage) {
		try {
			stage.toCompletableFuture().cancel(true);
		}
		catch (UnsupportedOperationException ex) {
			// a stage that hides its future cannot be cancelled, and ends by itself
		}
	}

}
