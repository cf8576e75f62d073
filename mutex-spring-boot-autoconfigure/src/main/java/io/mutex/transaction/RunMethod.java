package io.mutex.transaction;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

import io.mutex.annotation.Fenced;
import io.mutex.annotation.Fencing;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;

/**
 * A protected method and the transaction that is declared for it.
 *
 * @param beanName the name of the bean
 * @param targetClass the class of the bean
 * @param method the method
 * @param recorded whether its success is recorded
 * @param transaction its transaction, or {@code null} if none is declared
 */
record RunMethod(String beanName, Class<?> targetClass, Method method, boolean recorded,
		@Nullable TransactionAttribute transaction) {

	boolean returnsStage() {
		return CompletionStage.class.isAssignableFrom(this.method.getReturnType());
	}

	/**
	 * Whether guards confirm it at the resource named like its key.
	 * @return {@code false} if it names another resource, or none
	 */
	boolean isFencedByKey() {
		Fenced fenced = AnnotatedElementUtils.findMergedAnnotation(this.method, Fenced.class);
		return fenced == null || (fenced.resource().isEmpty() && fenced.fencing() != Fencing.NONE);
	}

	@Override
	public String toString() {
		return ClassUtils.getUserClass(this.targetClass).getName() + "." + this.method.getName()
				+ Arrays.stream(this.method.getParameterTypes())
					.map(Class::getSimpleName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

}
