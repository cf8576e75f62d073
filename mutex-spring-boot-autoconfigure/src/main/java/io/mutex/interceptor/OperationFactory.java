package io.mutex.interceptor;

import java.time.Duration;
import java.util.function.Supplier;

import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import io.mutex.annotation.OnHeld;
import io.mutex.annotation.OnInDoubt;
import io.mutex.annotation.SingleRun;
import io.mutex.run.Period;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.expression.Expression;

/**
 * Turns annotations into operations, and refuses the ones that cannot work.
 */
final class OperationFactory {

	private static final Logger logger = LoggerFactory.getLogger(OperationFactory.class);

	private final ConfigurableBeanFactory beanFactory;

	private final Supplier<InterceptorSettings> settings;

	private final FencingCheck fencing;

	OperationFactory(ConfigurableBeanFactory beanFactory, Supplier<InterceptorSettings> settings,
			FencingCheck fencing) {
		this.beanFactory = beanFactory;
		this.settings = settings;
		this.fencing = fencing;
	}

	/**
	 * Creates the operations of a method.
	 * @param declaration the method
	 * @param annotations its annotations
	 * @return the operations
	 * @throws MutexConfigurationException if the method cannot be protected as declared
	 */
	MethodOperations create(Declaration declaration, MethodAnnotations annotations) {
		MethodExpressions expressions = new MethodExpressions(declaration, this.beanFactory);
		SingleRunOperation singleRun = (annotations.singleRun() != null)
				? singleRun(annotations.singleRun(), expressions) : null;
		FencedOperation fenced = (annotations.fenced() != null) ? fenced(annotations.fenced(), expressions) : null;
		if (singleRun != null && fenced != null && fenced.onHeld() == OnHeld.SKIP) {
			throw declaration.refuse("a call that @Fenced skips would be recorded as a success of @SingleRun",
					"Set onHeld = FAIL at @Fenced");
		}
		ReturnValues.check(declaration,
				(singleRun != null && singleRun.canSkip()) || (fenced != null && fenced.onHeld() == OnHeld.SKIP));
		return new MethodOperations(expressions, singleRun, fenced);
	}

	private SingleRunOperation singleRun(MergedAnnotation<SingleRun> annotation, MethodExpressions expressions) {
		Attributes attributes = new Attributes(annotation, expressions);
		InterceptorSettings standard = this.settings.get();
		Schedule schedule = Schedule.of(expressions);
		String unit = annotation.getString("unit");
		Template unitTemplate = unit.isBlank() ? null : Template.parse("unit", unit, expressions);
		SingleRunOperation operation = new SingleRunOperation(expressions.declaration(), attributes.key(), unitTemplate,
				period(attributes, schedule, unitTemplate),
				attributes.zone((schedule.zone() != null) ? schedule.zone() : standard.zone()), schedule,
				attributes.waitFor(Duration.ZERO), annotation.getEnum("onHeld", OnHeld.class),
				annotation.getEnum("onInDoubt", OnInDoubt.class) == OnInDoubt.SKIP, unless(attributes, expressions),
				attributes.lease(standard.singleRunLease()), attributes.maxHold(standard.singleRunMaxHold()),
				Repeats.NONE);
		operation = operation.with(Repeats.of(operation, attributes, annotation, standard));
		logger.info("Single run '{}' of {}: {}", operation.key().text(), expressions.declaration(), operation.policy());
		if (schedule.declared() && !operation.waitFor().isZero()) {
			logger.warn("{} is scheduled and waits up to {} for its key: meanwhile it keeps a thread of the scheduler",
					expressions.declaration(), operation.waitFor());
		}
		return operation;
	}

	private static Period period(Attributes attributes, Schedule schedule, @Nullable Template unit) {
		String per = attributes.text("per");
		if (unit != null) {
			if (!per.isEmpty()) {
				throw attributes.refuse("it has a unit and a period", "Leave out either unit or per", null);
			}
			return Period.NONE;
		}
		if (per.isEmpty()) {
			return schedule.period();
		}
		try {
			Period period = Period.parse(per);
			if (period.kind() != Period.Kind.TICK || schedule.ticks() != null) {
				return period;
			}
		}
		catch (IllegalArgumentException ex) {
			throw attributes.refuse("its per is not valid", "Correct it: " + ex.getMessage(), ex);
		}
		if (schedule.disabled()) {
			return Period.NONE;
		}
		throw attributes.refuse("it runs once per tick, but has no cron schedule",
				"Add @Scheduled(cron = ...), or set per to a period such as day", null);
	}

	private static @Nullable Expression unless(Attributes attributes, MethodExpressions expressions) {
		String unless = attributes.text("unless");
		return unless.isEmpty() ? null : expressions.parseExpression("unless", unless);
	}

	private FencedOperation fenced(MergedAnnotation<Fenced> annotation, MethodExpressions expressions) {
		Attributes attributes = new Attributes(annotation, expressions);
		InterceptorSettings standard = this.settings.get();
		FencedOperation operation = new FencedOperation(expressions.declaration(), attributes.key(),
				attributes.resource(), attributes.waitFor(standard.fencedWaitFor()),
				annotation.getEnum("onHeld", OnHeld.class), annotation.getEnum("fencing", Fencing.class),
				attributes.permits(), attributes.lease(standard.fencedLease()),
				attributes.maxHold(standard.fencedMaxHold()));
		logger.info("Fenced work '{}' of {}: {}", operation.key().text(), expressions.declaration(),
				operation.policy());
		this.fencing.add(operation);
		return operation;
	}

}
