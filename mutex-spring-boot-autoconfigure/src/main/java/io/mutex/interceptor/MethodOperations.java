package io.mutex.interceptor;

import org.jspecify.annotations.Nullable;

/**
 * What is done when one method is called: the single run outside, the fenced work inside.
 *
 * @param expressions the expressions of the method
 * @param singleRun the single run, or {@code null}
 * @param fenced the fenced work, or {@code null}
 */
record MethodOperations(MethodExpressions expressions, @Nullable SingleRunOperation singleRun,
		@Nullable FencedOperation fenced) {

	Declaration declaration() {
		return this.expressions.declaration();
	}

}
