package io.mutex.interceptor;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * What a call returns whose method did not run.
 */
final class ReturnValues {

	private static final Set<String> REACTIVE = Set.of("org.reactivestreams.Publisher",
			"java.util.concurrent.Flow$Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Deferred");

	private static final String RXJAVA = "io.reactivex.";

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private ReturnValues() {
	}

	/**
	 * The value of a skipped call.
	 * @param type the return type of the method
	 * @return {@code null}, an empty optional, or a completed future of {@code null}
	 */
	static @Nullable Object skipped(Class<?> type) {
		if (type == Optional.class) {
			return Optional.empty();
		}
		if (type == OptionalInt.class) {
			return OptionalInt.empty();
		}
		if (type == OptionalLong.class) {
			return OptionalLong.empty();
		}
		if (type == OptionalDouble.class) {
			return OptionalDouble.empty();
		}
		return CompletionStage.class.isAssignableFrom(type) ? CompletableFuture.completedFuture(null) : null;
	}

	/**
	 * Replaces a {@code null} that no caller expects.
	 * @param type the return type of the method
	 * @param value what the method returned
	 * @return the value, or an empty optional
	 */
	static @Nullable Object normalize(Class<?> type, @Nullable Object value) {
		return (value == null && !CompletionStage.class.isAssignableFrom(type)) ? skipped(type) : value;
	}

	/**
	 * Refuses return types under which the lock would be freed before the work is done,
	 * or a skipped call would have nothing to return.
	 * @param declaration the method
	 * @param canSkip whether a call may be skipped
	 * @throws MutexConfigurationException if the return type is one of them
	 */
	static void check(Declaration declaration, boolean canSkip) {
		Method method = declaration.method();
		Class<?> type = method.getReturnType();
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0 && CONTINUATION.equals(parameters[parameters.length - 1].getName())) {
			throw declaration.refuse(
					"it is a suspending function: it returns at its first suspension, "
							+ "long before its work is done",
					"Annotate a function that is not suspending and calls it");
		}
		if (isReactive(type)) {
			throw declaration.refuse(
					"it returns " + type.getName() + ", whose work begins after the method has " + "returned",
					"Return a CompletionStage, or annotate a method that waits for the result");
		}
		boolean stage = CompletionStage.class.isAssignableFrom(type);
		if (Future.class.isAssignableFrom(type) && !stage) {
			throw declaration.refuse("it returns " + type.getName() + ", which does not tell when the work is done",
					"Return a CompletableFuture");
		}
		if (canSkip && type.isPrimitive() && type != void.class) {
			throw declaration.refuse("it returns " + type + ", and a skipped call has no value to return",
					"Return " + wrapper(type) + ", or an Optional");
		}
		if (stage && !type.isAssignableFrom(CompletableFuture.class)) {
			throw declaration.refuse(
					"it returns " + type.getName() + ", and a caller gets a future that completes with its lease",
					"Return a CompletionStage or a CompletableFuture");
		}
	}

	private static String wrapper(Class<?> primitive) {
		return MethodType.methodType(primitive).wrap().returnType().getSimpleName();
	}

	private static boolean isReactive(@Nullable Class<?> type) {
		if (type == null || type == Object.class) {
			return false;
		}
		if (REACTIVE.contains(type.getName()) || type.getName().startsWith(RXJAVA)
				|| isReactive(type.getSuperclass())) {
			return true;
		}
		for (Class<?> implemented : type.getInterfaces()) {
			if (isReactive(implemented)) {
				return true;
			}
		}
		return false;
	}

}
