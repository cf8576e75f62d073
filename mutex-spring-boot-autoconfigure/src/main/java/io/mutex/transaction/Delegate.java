package io.mutex.transaction;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Hands the calls of a proxy on to what it stands before.
 */
abstract class Delegate implements InvocationHandler {

	private final Object target;

	Delegate(Object target) {
		this.target = target;
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
		return switch (method.getName()) {
			case "equals" -> args != null && proxy == args[0];
			case "hashCode" -> System.identityHashCode(proxy);
			case "toString" -> "checked " + this.target;
			case "isWrapperFor" -> isFor(proxy, args) || Boolean.TRUE.equals(proceed(method, args));
			case "unwrap" -> isFor(proxy, args) ? proxy : proceed(method, args);
			default -> call(method, args);
		};
	}

	private static boolean isFor(Object proxy, @Nullable Object @Nullable [] args) {
		return args != null && args[0] instanceof Class<?> type && type.isInstance(proxy);
	}

	/**
	 * Handles a call.
	 * @param method the method
	 * @param args its arguments
	 * @return what it returns
	 * @throws Throwable what it throws
	 */
	abstract @Nullable Object call(Method method, @Nullable Object @Nullable [] args) throws Throwable;

	final @Nullable Object proceed(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		try {
			return method.invoke(this.target, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
