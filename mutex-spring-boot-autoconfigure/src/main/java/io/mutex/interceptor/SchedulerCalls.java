package io.mutex.interceptor;

import java.util.Iterator;
import java.util.stream.Stream;

import org.springframework.aop.SpringProxy;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.scheduling.support.ScheduledMethodRunnable;

/**
 * Tells calls of the scheduler from calls by hand, by who stands next on the call stack
 * outside the proxy of the bean. What is wrapped around the scheduler's task, by a
 * decorator or by instrumentation, lies further out and changes nothing.
 */
final class SchedulerCalls {

	private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

	private SchedulerCalls() {
	}

	/**
	 * Whether the current call of a scheduled method comes from the scheduler. A call
	 * that <code>@Async</code> has moved to another thread counts as such: its caller
	 * cannot be seen any more, and is usually the scheduler.
	 * @return {@code false} for a call by hand
	 */
	static boolean isCurrent() {
		return WALKER.walk(SchedulerCalls::isScheduler);
	}

	private static boolean isScheduler(Stream<StackWalker.StackFrame> stack) {
		boolean outsideProxy = false;
		Iterator<StackWalker.StackFrame> frames = stack.iterator();
		while (frames.hasNext()) {
			Class<?> type = frames.next().getDeclaringClass();
			if (type == ScheduledMethodRunnable.class) {
				return true;
			}
			if (type == AsyncExecutionInterceptor.class && !outsideProxy) {
				return true;
			}
			boolean proxy = SpringProxy.class.isAssignableFrom(type);
			if (outsideProxy && !proxy && !isTransparent(type.getName())) {
				return false;
			}
			outsideProxy = outsideProxy || proxy;
		}
		return false;
	}

	private static boolean isTransparent(String type) {
		return type.startsWith("org.springframework.") || type.startsWith("java.") || type.startsWith("jdk.")
				|| type.startsWith("sun.");
	}

}
