package io.mutex.interceptor;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;

import io.mutex.FencingToken;
import io.mutex.Lease;
import io.mutex.annotation.CatchUp;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Attempts;
import io.mutex.run.Period;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.scheduling.annotation.Async;

/**
 * What the starter runs by itself, without a call of the scheduler.
 *
 * @param maxRetries how often it tries again what failed
 * @param delay how long after a failure
 * @param catchUp whether it runs at start-up what was missed
 */
record Repeats(int maxRetries, Duration delay, boolean catchUp) {

	static final Repeats NONE = new Repeats(0, Duration.ZERO, false);

	/** A missed unit is run, and once more after a death. */
	private static final int CATCH_UP_ATTEMPTS = 2;

	private static final String OWN_CALL = "the starter calls the method itself";

	/**
	 * Reads what an annotation asks for.
	 * @param operation the operation
	 * @param attributes the text attributes of the annotation
	 * @param annotation the annotation
	 * @param standard the settings of the application
	 * @return what is repeated; nothing if the schedule is switched off
	 * @throws MutexConfigurationException if the method cannot be repeated as declared
	 */
	static Repeats of(SingleRunOperation operation, Attributes attributes, MergedAnnotation<SingleRun> annotation,
			InterceptorSettings standard) {
		Repeats declared = new Repeats(attributes.maxRetries(), attributes.delay(),
				annotation.getEnum("catchUp", CatchUp.class) == CatchUp.LAST);
		if (operation.schedule().disabled()) {
			return NONE;
		}
		Obstacle obstacle = obstacle(operation);
		if (declared.maxRetries > 0 && obstacle != null) {
			throw obstacle.refuse(operation, "maxRetries = " + declared.maxRetries);
		}
		Obstacle catchUpObstacle = (obstacle != null) ? obstacle : catchUpObstacle(operation);
		if (declared.catchUp && catchUpObstacle != null) {
			throw catchUpObstacle.refuse(operation, "catchUp = LAST");
		}
		boolean byDefault = standard.catchUp() && annotation.getEnum("catchUp", CatchUp.class) == CatchUp.DEFAULT;
		return new Repeats(declared.maxRetries, declared.delay,
				declared.catchUp || (byDefault && catchUpObstacle == null));
	}

	private static @Nullable Obstacle obstacle(SingleRunOperation operation) {
		Declaration declaration = operation.declaration();
		boolean filled = Arrays.stream(declaration.method().getParameterTypes())
			.allMatch((type) -> type == FencingToken.class || type == Lease.class);
		if (!filled) {
			return new Obstacle(OWN_CALL + ", and has no arguments for it", "annotate a method without parameters");
		}
		if (AnnotatedElementUtils.hasAnnotation(declaration.method(), Async.class)
				|| AnnotatedElementUtils.hasAnnotation(declaration.targetClass(), Async.class)) {
			return new Obstacle(OWN_CALL + ", and @Async would take the call to another thread", "leave out @Async");
		}
		if (!operation.hasUnits()) {
			return new Obstacle("without a unit nobody knows what has failed or was missed",
					"set per to a period such as day");
		}
		return null;
	}

	private static @Nullable Obstacle catchUpObstacle(SingleRunOperation operation) {
		if (operation.schedule().ticks() == null) {
			return new Obstacle("without a cron schedule nobody knows when it should have run",
					"add @Scheduled(cron = ...)");
		}
		if (operation.unit() != null || operation.period().kind() == Period.Kind.ROLLING) {
			return new Obstacle("which unit was missed does not follow from the schedule",
					"set per to tick or to a calendar period such as day");
		}
		return operation.key().isConstant() ? null
				: new Obstacle("its key has to be known without a call", "write a key without #{...}");
	}

	/**
	 * Whether the starter calls the method at all.
	 * @return {@code false} if only others do
	 */
	boolean any() {
		return this.maxRetries > 0 || this.catchUp;
	}

	/**
	 * Adds the limit of attempts to those of a call.
	 * @param attempts the attempts
	 * @param until when the next firing ends them, or {@code null}
	 * @return the changed copy
	 */
	Attempts applyTo(Attempts attempts, @Nullable Instant until) {
		if (this.maxRetries > 0) {
			return attempts.withLimit(this.maxRetries + 1, this.delay, until);
		}
		return this.catchUp ? attempts.withLimit(CATCH_UP_ATTEMPTS, null, until) : attempts;
	}

	@Override
	public String toString() {
		return ((this.maxRetries > 0) ? ", tried again up to " + this.maxRetries + " times, " + this.delay + " apart"
				: "") + (this.catchUp ? ", caught up at start-up" : "");
	}

	/** Why the starter cannot call a method. */
	private record Obstacle(String problem, String remedy) {

		MutexConfigurationException refuse(SingleRunOperation operation, String declared) {
			return operation.declaration()
				.refuse("it has " + declared + ", but " + this.problem,
						"Leave out " + declared + ", or " + this.remedy);
		}

	}

}
