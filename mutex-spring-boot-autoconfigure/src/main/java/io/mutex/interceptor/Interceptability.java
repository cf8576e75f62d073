package io.mutex.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;

import org.springframework.aop.support.AopUtils;

/**
 * How a bean is proxied, and so which of its methods can be protected at all.
 *
 * @param interfaces the interfaces of a proxy that is not a subclass; empty for a proxy
 * that is
 */
record Interceptability(List<Class<?>> interfaces) {

	/**
	 * Refuses a method that calls would reach without passing the interceptor.
	 * @param declaration the method
	 * @param onMethod whether the annotation stands on the method
	 * @throws MutexConfigurationException if it is such a method
	 */
	void check(Declaration declaration, boolean onMethod) {
		Method method = declaration.method();
		int modifiers = method.getModifiers();
		if (Modifier.isStatic(modifiers) || Modifier.isPrivate(modifiers)) {
			throw declaration.refuse(
					"it is " + (Modifier.isStatic(modifiers) ? "static" : "private")
							+ ", and calls of it do not pass the proxy of the bean",
					"Annotate a public method of the bean");
		}
		if (!this.interfaces.isEmpty()) {
			if (onMethod && !isInInterface(declaration)) {
				throw declaration.refuse("the bean is proxied by its interfaces, and none of them has this method",
						"Declare the method in the interface, or have the class proxied: "
								+ "spring.aop.proxy-target-class=true");
			}
			return;
		}
		if (Modifier.isFinal(declaration.targetClass().getModifiers())) {
			throw declaration.refuse("its class is final, and a proxy cannot extend it",
					"Open the class (in Kotlin with the plug-in kotlin-spring, or the word open)");
		}
		if (Modifier.isFinal(modifiers)) {
			throw declaration.refuse("it is final, and a proxy cannot override it: it would run unprotected, "
					+ "and on a proxy whose fields are null", "Open the method (in Kotlin with the word open)");
		}
	}

	private boolean isInInterface(Declaration declaration) {
		return this.interfaces.stream()
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.anyMatch((method) -> AopUtils.getMostSpecificMethod(method, declaration.targetClass())
				.equals(declaration.method()));
	}

}
