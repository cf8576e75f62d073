package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.util.Set;

import io.mutex.LeaseCallback;
import io.mutex.LockRequest;
import io.mutex.MutexTemplate;
import io.mutex.RunResult;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;

/**
 * What else takes part in calls of annotated methods.
 */
public interface RunAdvice {

	/**
	 * Adds advice to the proxy of a bean, once all others have added theirs.
	 * @param proxy the proxy
	 * @param beanName the name of the bean
	 * @param targetClass the class of the bean
	 * @param methods its annotated methods
	 * @param recorded those of them that are single runs whose success is recorded
	 */
	default void addTo(Advised proxy, String beanName, Class<?> targetClass, Set<Method> methods,
			Set<Method> recorded) {
	}

	/**
	 * Makes a call of an annotated method a single run.
	 * @param invocation the call
	 * @param request what is asked for
	 * @param body goes on to the method
	 * @param template runs it
	 * @return how it ended
	 * @throws Throwable what the method or the template throws
	 */
	default RunResult<@Nullable Object> run(MethodInvocation invocation, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body, MutexTemplate template) throws Throwable {
		return template.singleRun(request, body);
	}

	/**
	 * Runs a call of an annotated method that is no single run.
	 * @param invocation the call
	 * @param request what is asked for
	 * @param body goes on to the method
	 * @param template runs it
	 * @return what the method returns
	 * @throws Throwable what the method or the template throws
	 */
	default @Nullable Object execute(MethodInvocation invocation, LockRequest request,
			LeaseCallback<@Nullable Object, Throwable> body, MutexTemplate template) throws Throwable {
		return template.execute(request, body);
	}

	/**
	 * Calls in which nothing else takes part.
	 * @return advice that adds nothing
	 */
	static RunAdvice none() {
		return new RunAdvice() {
		};
	}

}
