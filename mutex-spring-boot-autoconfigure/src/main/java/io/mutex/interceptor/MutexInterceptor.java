package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.mutex.FencingPolicy;
import io.mutex.Keys;
import io.mutex.LeaseCallback;
import io.mutex.LockNotAcquiredException;
import io.mutex.LockNotAcquiredException.Reason;
import io.mutex.LockRequest;
import io.mutex.MutexException;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import io.mutex.annotation.OnHeld;
import io.mutex.run.Attempts;
import io.mutex.run.Outcome;
import io.mutex.run.RunUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.support.AopUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;

/**
 * Runs annotated methods through the {@link MutexTemplate}: the single run outside, the
 * fenced work inside.
 */
final class MutexInterceptor implements MethodInterceptor {

	private static final Logger skips = LoggerFactory.getLogger("io.mutex.skip");

	private final OperationSource operations;

	private final Supplier<MutexTemplate> template;

	private final Supplier<InterceptorSettings> settings;

	private final Supplier<RunRepeater> repeater;

	private final TickWait tickWait;

	private final Supplier<RunAdvice> advice;

	MutexInterceptor(OperationSource operations, Supplier<MutexTemplate> template,
			Supplier<InterceptorSettings> settings, Supplier<RunRepeater> repeater, TickWait tickWait,
			Supplier<RunAdvice> advice) {
		this.operations = operations;
		this.template = template;
		this.settings = settings;
		this.repeater = repeater;
		this.tickWait = tickWait;
		this.advice = advice;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Method method = invocation.getMethod();
		MethodOperations found = this.operations.get(method,
				(target != null) ? AopUtils.getTargetClass(target) : method.getDeclaringClass());
		if (found == null) {
			return invocation.proceed();
		}
		Call call = new Call(invocation, found.expressions());
		SingleRunOperation singleRun = found.singleRun();
		FencedOperation fenced = found.fenced();
		if (singleRun != null) {
			return singleRun(singleRun, call, body(fenced, call));
		}
		return (fenced != null) ? fenced(fenced, call) : invocation.proceed();
	}

	@SuppressWarnings("NullAway") // it does not look into type arguments
	private LeaseCallback<@Nullable Object, Throwable> body(@Nullable FencedOperation fenced, Call call) {
		return (fenced != null) ? (lease) -> fenced(fenced, call) : call::proceed;
	}

	private @Nullable Object singleRun(SingleRunOperation operation, Call call,
			LeaseCallback<@Nullable Object, Throwable> body) throws Throwable {
		Ticket ticket = Ticket.take(operation);
		if (ticket != null) {
			LockRequest request = request(operation, ticket.key(), ticket.unit(), ticket.attempts(), call)
				.withWaitFor(Duration.ZERO)
				.withObserver(this.repeater.get().observe(ticket));
			// a look that finds the key held is no failure, whatever the policy says
			RunResult<@Nullable Object> result = this.advice.get()
				.run(call.invocation(), request, body, this.template.get());
			return result.outcome().isSkipped() ? skipped(operation) : result.value();
		}
		String key = valid("key", operation.declaration(), operation.key(), call);
		UnitChoice choice = this.settings.get().records()
				? UnitChoice.of(operation, call, this.tickWait.clock().instant()) : UnitChoice.NONE;
		if (choice.notBefore() != null && !this.tickWait.until(choice.notBefore())) {
			throw new LockNotAcquiredException(key, Reason.INTERRUPTED, null,
					"interrupted before the tick of key '" + key + "' had come; the method has not run");
		}
		LockRequest request = request(operation, key, choice.unit(), choice.attempts(), call);
		return value(operation, key, this.advice.get()
			.run(call.invocation(), observed(request, operation, call), body, this.template.get()));
	}

	private LockRequest request(SingleRunOperation operation, String key, @Nullable RunUnit unit, Attempts attempts,
			Call call) {
		return new LockRequest(key, operation.key().text(), operation.lease(), operation.maxHold(), operation.waitFor(),
				this.settings.get().retention().keep(operation, unit), attempts, operation.skipInDoubt(),
				FencingPolicy.STRICT, 1, unless(operation, key, call), null);
	}

	private LockRequest observed(LockRequest request, SingleRunOperation operation, Call call) {
		Object bean = call.bean();
		if (request.unit() == null || bean == null || !operation.repeats().any()) {
			return request;
		}
		return request.withObserver(this.repeater.get()
			.observe(new Ticket(operation, request.key(), request.unit(), request.attempts(), bean, 0, 0)));
	}

	private static @Nullable Object value(SingleRunOperation operation, String key,
			RunResult<@Nullable Object> result) {
		if (!result.outcome().isSkipped()) {
			return result.value();
		}
		if (result.outcome() == Outcome.SKIPPED_HELD && operation.onHeld() == OnHeld.FAIL) {
			throw new LockNotAcquiredException(key, operation.waitFor().isZero() ? Reason.HELD : Reason.TIMED_OUT,
					result.holder(), operation.declaration() + " has not run: " + result.reason());
		}
		return skipped(operation);
	}

	private static @Nullable Object skipped(SingleRunOperation operation) {
		return ReturnValues.skipped(operation.declaration().method().getReturnType());
	}

	private @Nullable Object fenced(FencedOperation operation, Call call) throws Throwable {
		String key = valid("key", operation.declaration(), operation.key(), call);
		LockRequest request = new LockRequest(key, operation.key().text(), operation.lease(), operation.maxHold(),
				operation.waitFor(), null, Attempts.BY_HAND, false, policy(operation, call), operation.permits(), null,
				null);
		try {
			return this.advice.get().execute(call.invocation(), request, body(null, call), this.template.get());
		}
		catch (LockNotAcquiredException ex) {
			boolean held = ex.getReason() == Reason.HELD || ex.getReason() == Reason.TIMED_OUT;
			if (held && operation.onHeld() == OnHeld.SKIP && !call.isEntered()) {
				skips.info("key={} skipped: {}", key, ex.getMessage());
				return ReturnValues.skipped(operation.declaration().method().getReturnType());
			}
			throw ex;
		}
	}

	private static FencingPolicy policy(FencedOperation operation, Call call) {
		String resource = (operation.resource() != null)
				? valid("resource", operation.declaration(), operation.resource(), call) : null;
		return new FencingPolicy(resource, switch (operation.fencing()) {
			case STRICT -> FencingPolicy.Mode.STRICT;
			case ON_WRITE -> FencingPolicy.Mode.ON_WRITE;
			case NONE -> FencingPolicy.Mode.NONE;
		});
	}

	private static String valid(String attribute, Declaration declaration, Template template, Call call) {
		String text = template.evaluate(call);
		if (template.isConstant()) {
			return text;
		}
		try {
			return Keys.requireValid(text);
		}
		catch (IllegalArgumentException ex) {
			throw new MutexException(null, "the " + attribute + " '" + template.text() + "' of " + declaration
					+ " is not valid for this call: " + ex.getMessage() + "; the method has not run", ex);
		}
	}

	private static @Nullable BooleanSupplier unless(SingleRunOperation operation, String key, Call call) {
		Expression unless = operation.unless();
		if (unless == null) {
			return null;
		}
		return () -> {
			try {
				Boolean done = unless.getValue(call.evaluationContext(), Boolean.class);
				if (done != null) {
					return done;
				}
			}
			catch (EvaluationException ex) {
				throw new MutexException(key, "unless '" + unless.getExpressionString() + "' of "
						+ operation.declaration() + " failed: " + ex.getMessage() + "; the method has not run", ex);
			}
			throw new MutexException(key, "unless '" + unless.getExpressionString() + "' of " + operation.declaration()
					+ " is null instead of true or false; the method has not run");
		};
	}

}
