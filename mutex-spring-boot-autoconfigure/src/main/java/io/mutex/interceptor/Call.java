package io.mutex.interceptor;

import java.lang.reflect.Method;

import io.mutex.FencingToken;
import io.mutex.Lease;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.expression.EvaluationContext;

/**
 * One call of an annotated method.
 */
final class Call {

	private final MethodInvocation invocation;

	private final MethodExpressions expressions;

	private @Nullable EvaluationContext evaluationContext;

	private boolean entered;

	Call(MethodInvocation invocation, MethodExpressions expressions) {
		this.invocation = invocation;
		this.expressions = expressions;
	}

	MethodInvocation invocation() {
		return this.invocation;
	}

	EvaluationContext evaluationContext() {
		if (this.evaluationContext == null) {
			this.evaluationContext = this.expressions.context(this.invocation.getThis(),
					this.invocation.getArguments());
		}
		return this.evaluationContext;
	}

	/**
	 * The bean that was called.
	 * @return its proxy
	 */
	@Nullable Object bean() {
		return (this.invocation instanceof ProxyMethodInvocation proxied) ? proxied.getProxy()
				: this.invocation.getThis();
	}

	/**
	 * Whether the method was entered.
	 * @return {@code false} until {@link #proceed(Lease)}
	 */
	boolean isEntered() {
		return this.entered;
	}

	/**
	 * Goes on to the method.
	 * @param lease the lease that it runs under
	 * @return what the method returns
	 * @throws Throwable what the method throws
	 */
	@Nullable Object proceed(Lease lease) throws Throwable {
		this.entered = true;
		fillParameters(lease);
		return ReturnValues.normalize(method().getReturnType(), this.invocation.proceed());
	}

	private Method method() {
		// that of an interface may know less of its types
		return this.expressions.declaration().method();
	}

	private void fillParameters(Lease lease) {
		Class<?>[] types = method().getParameterTypes();
		@Nullable Object[] arguments = this.invocation.getArguments();
		boolean changed = false;
		for (int index = 0; index < types.length; index++) {
			if (types[index] == FencingToken.class || types[index] == Lease.class) {
				arguments[index] = (types[index] == Lease.class) ? lease : lease.token();
				changed = true;
			}
		}
		if (changed && this.invocation instanceof ProxyMethodInvocation proxied) {
			proxied.setArguments(arguments);
		}
	}

}
